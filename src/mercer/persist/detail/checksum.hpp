// The checksum of model files. For the .cpp files of this room only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mercer::persist {

using ChecksumTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// tables[0][b] is the remainder of byte b, tables[k][b] that of b followed by k zero bytes.
constexpr ChecksumTables checksum_tables() {
    ChecksumTables result{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t r = b;
        for (int bit = 0; bit < 8; ++bit) r = (r >> 1) ^ ((r & 1) != 0 ? 0xEDB88320U : 0U);
        result[0][b] = r;
    }
    for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t b = 0; b < 256; ++b) {
            const std::uint32_t r = result[k - 1][b];
            result[k][b] = result[0][r & 255] ^ r >> 8;
        }
    }
    return result;
}
inline constexpr ChecksumTables tables = checksum_tables();

/// CRC-32 as in zip, gzip and PNG (ISO 3309, polynomial 0xEDB88320 with the lowest bit first), so
/// that anyone can recompute it: Python has it as zlib.crc32. It finds every burst of damage up to
/// 32 bits long, hence every changed byte. Eight bytes a step [Kounavis and Berry 2005].
class Checksum {
   public:
    void add(std::string_view bytes) {
        const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
        std::size_t left = bytes.size();
        std::uint32_t sum = sum_;
        for (; left >= 8; left -= 8, p += 8) {
            sum ^= std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 |
                   std::uint32_t{p[3]} << 24;
            sum = tables[7][sum & 255] ^ tables[6][sum >> 8 & 255] ^ tables[5][sum >> 16 & 255] ^
                  tables[4][sum >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
                  tables[0][p[7]];
        }
        for (; left > 0; --left, ++p) sum = tables[0][(sum ^ *p) & 255] ^ sum >> 8;
        sum_ = sum;
    }

    std::uint32_t value() const { return ~sum_; }

   private:
    std::uint32_t sum_ = 0xFFFFFFFF;
};

}  // namespace mercer::persist
