#include "mercer/base/detail/deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

namespace mercer {
namespace {

constexpr std::size_t packed_block = std::size_t{1} << 16;
constexpr int gzip_window = 15 + 16;  // the largest window, and gzip's header around it

/// zlib counts in unsigned int.
uInt piece_of(std::size_t size) {
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* bytes_of(const char* text) {
    // zlib reads what it is given here, though it does not say so.
    return reinterpret_cast<Bytef*>(const_cast<char*>(text));
}

}  // namespace

struct Inflater::State {
    z_stream stream{};
    std::string_view left{};
    Form form = Form::gzip;
    bool ended = false;  ///< a member has; another may follow
};

Inflater::Inflater(Form form) : state_(std::make_unique<State>()) {
    state_->form = form;
    if (inflateInit2(&state_->stream, form == Form::gzip ? gzip_window : -15) != Z_OK) {
        throw std::bad_alloc();
    }
}

Inflater::Inflater(Inflater&&) noexcept = default;

Inflater::~Inflater() {
    if (state_) inflateEnd(&state_->stream);
}

void Inflater::feed(std::string_view bytes) {
    state_->left = bytes;
}

bool Inflater::finished() const {
    return state_->ended;
}

std::size_t Inflater::take(char* out, std::size_t room) {
    State& s = *state_;
    std::size_t written = 0;
    while (written < room && !s.left.empty()) {
        if (s.ended) {
            // What follows the last member and is none itself (padding) is left alone, as gzip
            // does.
            if (s.form == Form::raw || s.left.front() != '\x1f') {
                s.left = {};
                break;
            }
            s.ended = false;
            inflateReset(&s.stream);
        }
        s.stream.next_in = bytes_of(s.left.data());
        s.stream.avail_in = piece_of(s.left.size());
        s.stream.next_out = bytes_of(out + written);
        s.stream.avail_out = piece_of(room - written);
        const uInt in = s.stream.avail_in;
        const uInt out_room = s.stream.avail_out;
        const int status = inflate(&s.stream, Z_NO_FLUSH);
        s.left.remove_prefix(in - s.stream.avail_in);
        written += out_room - s.stream.avail_out;
        if (status == Z_STREAM_END) {
            s.ended = true;
        } else if (status == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            throw std::runtime_error(s.stream.msg != nullptr ? s.stream.msg : "invalid data");
        }
    }
    return written;
}

struct GzipOutput::State {
    z_stream stream{};
    Output* target = nullptr;
    std::string buffer = std::string(packed_block, '\0');

    void run(std::string_view bytes, int flush) {
        stream.next_in = bytes_of(bytes.data());
        stream.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream.next_out = bytes_of(buffer.data());
            stream.avail_out = static_cast<uInt>(buffer.size());
            if (deflate(&stream, flush) == Z_STREAM_ERROR) {
                throw std::runtime_error("compression failed");
            }
            target->write({buffer.data(), buffer.size() - stream.avail_out});
        } while (stream.avail_out == 0);
    }
};

GzipOutput::GzipOutput(Output& target) : state_(std::make_unique<State>()) {
    state_->target = &target;
    if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc();
    }
}

GzipOutput::~GzipOutput() {
    deflateEnd(&state_->stream);
}

void GzipOutput::write(std::string_view bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, most);
        state_->run(piece, Z_NO_FLUSH);
        bytes.remove_prefix(piece.size());
    }
}

void GzipOutput::finish() {
    state_->run({}, Z_FINISH);
}

std::uint32_t crc32_of(std::uint32_t so_far, std::string_view bytes) {
    uLong sum = so_far;
    while (!bytes.empty()) {
        const uInt piece = piece_of(bytes.size());
        sum = crc32(sum, bytes_of(bytes.data()), piece);
        bytes.remove_prefix(piece);
    }
    return static_cast<std::uint32_t>(sum);
}

}  // namespace mercer
