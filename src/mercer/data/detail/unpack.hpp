// Compressed bytes unpacked piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mercer {

/// One compressed file. `next` gives its bytes piece by piece, none at the end; each piece must
/// live until the next is asked for, and the first must be there to be looked at (`head`). `name`
/// is for messages.
class Unpacker {
   public:
    using Next = std::function<std::string_view()>;
    Unpacker(std::string_view head, Next next, const std::string& name);
    Unpacker(Unpacker&&) noexcept;
    ~Unpacker();

    /// The next bytes, at most `room`; 0 at the end. Throws InvalidInput for damaged bytes, and
    /// what `next` throws.
    std::size_t read(char* out, std::size_t room);

   private:
    struct Way;
    struct Gzip;
    struct Other;
    std::unique_ptr<Way> way_;
};

}  // namespace mercer
