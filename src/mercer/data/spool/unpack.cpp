#include "mercer/data/detail/unpack.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "mercer/base/detail/archive.hpp"
#include "mercer/base/detail/deflate.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

/// True for bytes that a compressed file other than gzip's may begin with. For all others the
/// library that unpacks them is not even opened.
bool may_be_packed(std::string_view bytes) {
    using namespace std::string_view_literals;
    for (const std::string_view beginning :
         {"BZh"sv, "LZIP"sv, "\xfd\x37\x7a\x58\x5a\0"sv, "\x28\xb5\x2f\xfd"sv, "\x04\x22\x4d\x18"sv,
          "\x1f\x9d"sv}) {
        if (bytes.starts_with(beginning)) return true;
    }
    // Old lzma: settings, the size of the dictionary, and a length that is not known or not huge.
    return bytes.starts_with("\x5d\0\0"sv) && bytes.size() > 12 &&
           (bytes.substr(5, 8) == std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8) ||
            bytes.substr(10, 3) == "\0\0\0"sv);
}

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

/// An unpacker that takes one compressed file of unknown name. The filters that would start
/// another program (lrzip, grzip, lzop) are left out: a file must not decide what runs.
Archive new_archive() {
    Archive unpacker(MERCER_ARCHIVE(archive_read_new)(), MERCER_ARCHIVE(archive_read_free));
    if (!unpacker) throw std::bad_alloc();
    for (const auto add : {MERCER_ARCHIVE(archive_read_support_filter_gzip),
                           MERCER_ARCHIVE(archive_read_support_filter_bzip2),
                           MERCER_ARCHIVE(archive_read_support_filter_xz),
                           MERCER_ARCHIVE(archive_read_support_filter_zstd),
                           MERCER_ARCHIVE(archive_read_support_filter_lz4),
                           MERCER_ARCHIVE(archive_read_support_filter_lzma),
                           MERCER_ARCHIVE(archive_read_support_filter_lzip),
                           MERCER_ARCHIVE(archive_read_support_filter_compress),
                           MERCER_ARCHIVE(archive_read_support_format_raw),
                           MERCER_ARCHIVE(archive_read_support_format_empty)}) {
        add(unpacker.get());
    }
    return unpacker;
}

[[noreturn]] void fail_unpacking(const std::string& name, const std::string& reason) {
    throw InvalidInput(Location{.file = name}, "compressed data is damaged or cut short (" +
                                                   reason + "); fetch the file again");
}

}  // namespace

struct Unpacker::Way {
    Way(Next given, const std::string& called) : next(std::move(given)), name(called) {}
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;
    virtual ~Way() = default;
    virtual std::size_t read(char* out, std::size_t room) = 0;

    Next next;
    std::string name;
};

struct Unpacker::Gzip : Way {
    using Way::Way;

    std::size_t read(char* out, std::size_t room) override {
        for (;;) {
            if (const std::size_t count = taken(out, room); count > 0) return count;
            const std::string_view piece = next();
            if (piece.empty()) break;
            fed([&] { inflater.feed(piece); });
        }
        if (!inflater.finished()) fail_unpacking(name, "it ends too early");
        return 0;
    }

    template <class Body>
    void fed(const Body& body) const {
        try {
            body();
        } catch (const std::runtime_error& error) {
            fail_unpacking(name, error.what());
        }
    }
    std::size_t taken(char* out, std::size_t room) {
        std::size_t count = 0;
        fed([&] { count = inflater.take(out, room); });
        return count;
    }

    Inflater inflater{Inflater::Form::gzip};
};

struct Unpacker::Other : Way {
    using Way::Way;

    std::size_t read(char* out, std::size_t room) override {
        if (!begun) begin();
        if (over) return 0;
        const la_ssize_t count = MERCER_ARCHIVE(archive_read_data)(unpacker.get(), out, room);
        if (count < 0) fail();
        over = count == 0;
        return static_cast<std::size_t>(count);
    }

    void begin() {
        begun = true;
        if (MERCER_ARCHIVE(archive_read_open)(unpacker.get(), this, nullptr, &Other::give,
                                              nullptr) != ARCHIVE_OK) {
            fail();
        }
        archive_entry* entry = nullptr;
        const int status = MERCER_ARCHIVE(archive_read_next_header)(unpacker.get(), &entry);
        over = status == ARCHIVE_EOF;
        if (status != ARCHIVE_OK && !over) fail();
    }

    [[noreturn]] void fail() const {
        if (error) std::rethrow_exception(error);
        const char* reason = MERCER_ARCHIVE(archive_error_string)(unpacker.get());
        fail_unpacking(name, reason != nullptr ? reason : "unknown reason");
    }

    /// What the archive calls back for.
    static la_ssize_t give(archive*, void* self, const void** out) {
        Other& own = *static_cast<Other*>(self);
        try {
            const std::string_view piece = own.next();
            *out = piece.data();
            return static_cast<la_ssize_t>(piece.size());
        } catch (...) {
            own.error = std::current_exception();
            return -1;
        }
    }

    Archive unpacker = new_archive();
    std::exception_ptr error{};
    bool begun = false;
    bool over = false;
};

Unpacker::Unpacker(std::string_view head, Next next, const std::string& name) {
    if (is_gzip(head)) {
        way_ = std::make_unique<Gzip>(std::move(next), name);
    } else {
        way_ = std::make_unique<Other>(std::move(next), name);
    }
}

Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker::~Unpacker() = default;

std::size_t Unpacker::read(char* out, std::size_t room) {
    return way_->read(out, room);
}

bool is_compressed(std::string_view bytes) {
    if (bytes.size() < 4) return false;
    if (is_gzip(bytes)) return true;
    if (!may_be_packed(bytes)) return false;
    const Archive unpacker = new_archive();
    const std::string_view head = bytes.substr(0, std::size_t{1} << 16);
    // Opening already fails when the first block of a compressed file is damaged.
    if (MERCER_ARCHIVE(archive_read_open_memory)(unpacker.get(), head.data(), head.size()) !=
        ARCHIVE_OK) {
        return true;
    }
    return MERCER_ARCHIVE(archive_filter_code)(unpacker.get(), 0) != ARCHIVE_FILTER_NONE;
}

}  // namespace mercer
