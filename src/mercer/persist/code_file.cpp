#include "mercer/persist/code_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/source.hpp"
#include "mercer/persist/detail/checksum.hpp"
#include "mercer/picture/image.hpp"

namespace mercer {
namespace {

constexpr std::string_view magic = "MERCERVQ";

/// The head of the file, little-endian as every number in it.
struct Head {
    char magic[8];
    std::uint32_t version;
    std::uint32_t checksum;  ///< of all that follows the first 16 bytes
    std::uint32_t codes;
    std::uint32_t columns;
    std::uint64_t rows;
    std::uint32_t height, width, channels, side;
    double radius;
    std::uint64_t reserved;
};
static_assert(sizeof(Head) == 64 && std::endian::native == std::endian::little);
constexpr std::size_t unchecked = 16;

std::size_t bits_for(std::size_t codes) {
    return static_cast<std::size_t>(std::bit_width(codes - 1));
}

[[noreturn]] void fail(const std::string& name, const std::string& message) {
    throw InvalidInput(Location{.file = name}, message);
}

std::size_t across(std::size_t length, std::size_t side) {
    return (length + side - 1) / side;
}

/// What must hold of the numbers of a head, written or read.
void check(const Head& head, const std::string& name) {
    if (head.codes == 0 || head.columns == 0) fail(name, "has no codes");
    if (!(head.radius >= 0) || std::isinf(head.radius)) fail(name, "has no valid radius");
    if (head.side == 0) return;
    const bool shape = head.side <= 256 && (head.channels == 1 || head.channels == 3) &&
                       head.height > 0 && head.width > 0 &&
                       std::uint64_t{head.height} * head.width <= largest_image / head.channels;
    if (!shape || head.columns != head.side * head.side * head.channels ||
        head.rows !=
            std::uint64_t{across(head.height, head.side)} * across(head.width, head.side)) {
        fail(name, "its picture of " + std::to_string(head.width) + " x " +
                       std::to_string(head.height) + " pixels does not fit its blocks");
    }
}

void append_codes(const CodeFile& file, std::string& out) {
    std::vector<double> row(file.codes.columns());
    for (std::size_t c = 0; c < file.codes.size(); ++c) {
        file.codes.copy_row(c, row);
        for (const double value : row) {
            if (file.is_image()) {
                out += static_cast<char>(
                    static_cast<unsigned char>(std::lround(std::clamp(value, 0.0, 255.0))));
            } else {
                const auto single = static_cast<float>(value);
                char bytes[sizeof(float)];
                std::memcpy(bytes, &single, sizeof(float));
                out.append(bytes, sizeof(float));
            }
        }
    }
}

void append_numbers(const CodeFile& file, std::string& out) {
    const std::size_t bits = bits_for(file.codes.size());
    std::uint64_t pending = 0;
    std::size_t held = 0;
    for (const std::size_t number : file.index) {
        pending |= static_cast<std::uint64_t>(number) << held;
        for (held += bits; held >= 8; held -= 8, pending >>= 8) {
            out += static_cast<char>(static_cast<unsigned char>(pending & 255));
        }
    }
    if (held > 0) out += static_cast<char>(static_cast<unsigned char>(pending & 255));
}

Rows read_codes(std::string_view bytes, const Head& head, const std::string& name) {
    std::vector<float> values(std::size_t{head.codes} * head.columns);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (head.side > 0) {
            values[i] = static_cast<float>(static_cast<unsigned char>(bytes[i]));
        } else {
            std::memcpy(&values[i], bytes.data() + i * sizeof(float), sizeof(float));
            if (!std::isfinite(values[i])) fail(name, "holds a code that is not finite");
        }
    }
    return Rows::dense(std::move(values), head.columns);
}

std::vector<std::size_t> read_numbers(std::string_view bytes, const Head& head,
                                      const std::string& name) {
    const std::size_t bits = bits_for(head.codes);
    std::vector<std::size_t> index(head.rows);
    std::uint64_t pending = 0;
    std::size_t held = 0, next = 0;
    for (std::size_t& number : index) {
        for (; held < bits; held += 8) {
            pending |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[next++]))
                       << held;
        }
        number = pending & ((std::uint64_t{1} << bits) - 1);
        pending >>= bits;
        held -= bits;
        if (number >= head.codes) {
            fail(name,
                 "names code " + std::to_string(number) + " of " + std::to_string(head.codes));
        }
    }
    return index;
}

}  // namespace

std::string codes_to_memory(const CodeFile& file) {
    constexpr std::size_t most = 0xFFFFFFFF;
    if (file.codes.size() > most || file.codes.columns() > most || file.height > most ||
        file.width > most || file.side > 256 || file.channels > 3) {
        throw InvalidInput("the codes are too many or too long for a file");
    }
    for (const std::size_t number : file.index) {
        if (number >= file.codes.size()) {
            throw InvalidInput("a row names code " + std::to_string(number) + " of " +
                               std::to_string(file.codes.size()));
        }
    }
    Head head{};
    std::memcpy(head.magic, magic.data(), magic.size());
    head.version = 1;
    head.codes = static_cast<std::uint32_t>(file.codes.size());
    head.columns = static_cast<std::uint32_t>(file.codes.columns());
    head.rows = file.index.size();
    head.height = static_cast<std::uint32_t>(file.height);
    head.width = static_cast<std::uint32_t>(file.width);
    head.channels = static_cast<std::uint32_t>(file.channels);
    head.side = static_cast<std::uint32_t>(file.side);
    head.radius = file.radius;
    check(head, "codes");
    std::string out(sizeof(Head), '\0');
    std::memcpy(out.data(), &head, sizeof(Head));
    append_codes(file, out);
    append_numbers(file, out);
    persist::Checksum sum;
    sum.add(std::string_view(out).substr(unchecked));
    head.checksum = sum.value();
    std::memcpy(out.data(), &head, sizeof(Head));
    return out;
}

CodeFile codes_from_memory(std::string_view bytes, const std::string& name) {
    Head head{};
    if (bytes.size() < sizeof(Head) || bytes.substr(0, magic.size()) != magic) {
        fail(name, "is no file of codes, as vector quantisation saves them");
    }
    std::memcpy(&head, bytes.data(), sizeof(Head));
    if (head.version != 1) {
        fail(name,
             "is of version " + std::to_string(head.version) + "; this program reads version 1");
    }
    check(head, name);
    // Sizes in double first: their products may be beyond any integer.
    const double width = head.side > 0 ? 1 : sizeof(float);
    const double all =
        sizeof(Head) + width * head.codes * head.columns +
        std::ceil(static_cast<double>(head.rows) * static_cast<double>(bits_for(head.codes)) / 8);
    if (all != static_cast<double>(bytes.size()) ||
        head.rows > std::max<std::uint64_t>(bytes.size() * 8, largest_image)) {
        fail(name, "is " + std::to_string(bytes.size()) +
                       " bytes long, which is not what its head says; it was cut short or damaged");
    }
    // With one code the numbers of codes take no bytes, however many there are.
    check_allowance(name, sizeof(std::size_t) * static_cast<double>(head.rows), bytes.size(),
                    "the numbers of " + std::to_string(head.rows) + " codes");
    persist::Checksum sum;
    sum.add(bytes.substr(unchecked));
    if (sum.value() != head.checksum) fail(name, "is damaged: its checksum does not fit");
    const std::size_t book =
        std::size_t{head.codes} * head.columns * (head.side > 0 ? 1 : sizeof(float));
    CodeFile file;
    file.codes = read_codes(bytes.substr(sizeof(Head), book), head, name);
    file.index = read_numbers(bytes.substr(sizeof(Head) + book), head, name);
    file.radius = head.radius;
    file.height = head.height;
    file.width = head.width;
    file.channels = head.channels;
    file.side = head.side;
    return file;
}

void save_codes(const CodeFile& file, const std::string& path) {
    const std::string bytes = codes_to_memory(file);
    write_whole(path, [&](Output& out) { out.write(bytes); });
}

CodeFile load_codes(const std::string& path) {
    const Content content = read_bytes(path);
    return codes_from_memory(content.view(), path == "-" ? "standard input" : path);
}

}  // namespace mercer
