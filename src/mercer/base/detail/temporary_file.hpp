// A file on its way to its place: nobody sees it before it is whole. For .cpp files of this room.
#pragma once

#include <sys/types.h>

#include <string>

namespace mercer {

/// Bytes that will take the place of `target`. Where the system has files without a name
/// (O_TMPFILE) there is nothing to leave behind; elsewhere, and for the moment in which an old file
/// is replaced, the name is of a kind that the next writer of the same target recognises and
/// removes, unless whoever made it still holds it locked.
class TemporaryFile {
   public:
    /// Throws InvalidInput, in the words of `name`, when nothing can be made there.
    TemporaryFile(std::string target, std::string name);
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    int descriptor() const { return descriptor_; }
    const std::string& target() const { return target_; }

    /// Has the disk keep what was written, which a loss of power would otherwise empty.
    void finish(mode_t mode);
    /// Puts it in place of the target. What stood there, if anything, can be had back while this
    /// lives.
    void take_place();
    void give_back() noexcept;

   private:
    [[noreturn]] void fail() const;
    void open_nameless();
    void open_named();
    void link_as_name();

    std::string target_;
    std::string name_;    ///< for messages
    std::string path_{};  ///< of its own; empty while it has none
    int descriptor_ = -1;
    enum class Place { beside, new_name, exchanged, replaced } place_ = Place::beside;
};

/// Removes what writers of this target that were killed have left in its folder.
void remove_leftovers(const std::string& target);

/// Has the disk keep the names in the folder of a path.
void sync_folder_of(const std::string& path);

[[noreturn]] void refuse_writing(const std::string& name, int error);

}  // namespace mercer
