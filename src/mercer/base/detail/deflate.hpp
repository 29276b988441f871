// gzip, and the deflate inside zip archives, by zlib: what most compressed files are, so that they
// need no larger library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mercer/base/file.hpp"

namespace mercer {

/// Unpacks a stream piece by piece. Throws std::runtime_error, with the reason, for damaged bytes.
class Inflater {
   public:
    enum class Form { gzip, raw };
    explicit Inflater(Form form);
    Inflater(Inflater&&) noexcept;
    ~Inflater();

    /// The next bytes of the stream, which must live until they are used up.
    void feed(std::string_view bytes);
    /// Writes at most `room` bytes and says how many; 0 when more must be fed, or at the end. A
    /// gzip file may be several, one after another.
    std::size_t take(char* out, std::size_t room);
    /// The stream is complete.
    bool finished() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compresses on the way to another output, as gzip does, without the time of day: equal content
/// gives equal bytes.
class GzipOutput : public Output {
   public:
    explicit GzipOutput(Output& target);
    ~GzipOutput() override;
    GzipOutput(const GzipOutput&) = delete;
    GzipOutput& operator=(const GzipOutput&) = delete;

    void write(std::string_view bytes) override;
    void finish();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The check sum of gzip and zip, of further bytes after those that gave `so_far`; 0 to begin with.
std::uint32_t crc32_of(std::uint32_t so_far, std::string_view bytes);

}  // namespace mercer
