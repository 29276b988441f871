#include "mercer/chart/detail/stroke_font.hpp"

#include <algorithm>
#include <map>

namespace mercer::chart {
namespace {

/// Strokes apart by |, places as two digits of base 16: x from the left, y upwards from three below
/// the line that letters stand on.
const std::map<char32_t, std::string_view>& letters() {
    static const std::map<char32_t, std::string_view> table{
        {U'A', "033B63|1656"},
        {U'B', "0747565443030B4B5A5847"},
        {U'C', "5A4B1B0A04134354"},
        {U'D', "030B3B59553303"},
        {U'E', "53030B5B|0747"},
        {U'F', "030B5B|0747"},
        {U'G', "5A4B1B0A041343545737"},
        {U'H', "030B|535B|0757"},
        {U'I', "030B"},
        {U'J', "041323343B"},
        {U'K', "030B|5B0753"},
        {U'L', "0B0343"},
        {U'M', "030B366B63"},
        {U'N', "030B535B"},
        {U'O', "13040A1B4B5A544313"},
        {U'P', "030B4B5A584707"},
        {U'Q', "13040A1B4B5A544313|3553"},
        {U'R', "030B4B5A584707|3753"},
        {U'S', "5A4B1B0A08174756544313 04"},
        {U'T', "0B6B|3B33"},
        {U'U', "0B041343545B"},
        {U'V', "0B336B"},
        {U'W', "0B2348638B"},
        {U'X', "035B|0B53"},
        {U'Y', "0B376B|3733"},
        {U'Z', "0B5B0353"},
        {U'0', "13040A1B3B4A443313"},
        {U'1', "092B23"},
        {U'2', "0A1B3B4A480343"},
        {U'3', "0A1B3B4A483717|374644331304"},
        {U'4', "333B0545"},
        {U'5', "4B0B0737464433 1304"},
        {U'6', "4A3B1B0A041333444637 1706"},
        {U'7', "0B4B13"},
        {U'8', "17080A1B3B4A48371706041333444637"},
        {U'9', "041333444A3B1B0A08173748"},
        {U'a', "4738180704133344|4843"},
        {U'b', "0B03|0718384744331304"},
        {U'c', "4738180704133344"},
        {U'd', "4B43|4738180704133344"},
        {U'e', "064647381807041333 44"},
        {U'f', "3B2B1A13|0828"},
        {U'g', "4841301001|4738180704133344"},
        {U'h', "0B03|0718384743"},
        {U'i', "0308|0A0B"},
        {U'j', "181100|1A1B"},
        {U'k', "0B03|3805|1633"},
        {U'l', "0B03"},
        {U'm', "0308|0718283733|3748586763"},
        {U'n', "0308|0718384743"},
        {U'o', "130407183847443313"},
        {U'p', "0800|0718384744331304"},
        {U'q', "4840|4738180704133344"},
        {U'r', "0308|061828"},
        {U's', "37281807162534231304"},
        {U't', "1B142333|0838"},
        {U'u', "0804133344|4843"},
        {U'v', "082348"},
        {U'w', "0823374368"},
        {U'x', "0348|0843"},
        {U'y', "0823|4810"},
        {U'z', "08480343"},
        {U'.', "0304"},
        {U',', "1401"},
        {U':', "0304|0708"},
        {U';', "1401|1718"},
        {U'!', "0B06|0403"},
        {U'?', "0A1B3B4A492726|2423"},
        {U'\'', "0B09"},
        {U'"', "0B09|2B29"},
        {U'(', "2B090522"},
        {U')', "0B292502"},
        {U'[', "2B0B0222"},
        {U']', "0B2B2202"},
        {U'{', "3B2B1A180716132232"},
        {U'}', "0B1B2A283726231202"},
        {U'/', "024B"},
        {U'\\', "0B42"},
        {U'|', "0B02"},
        {U'+', "0646|2824"},
        {U'-', "0636"},
        {U'=', "0545|0747"},
        {U'*', "2B27|0A48|084A"},
        {U'#', "131B|333B|0545|0949"},
        {U'%', "035B|090B1B1909|4345555343"},
        {U'&', "53090A1B2B3A3906041333 55"},
        {U'@', "4738281715243445|48455465695A4B2B1A0905142343 53"},
        {U'^', "092B49"},
        {U'_', "0141"},
        {U'`', "0B19"},
        {U'~', "06173546"},
        {U'<', "480644"},
        {U'>', "084604"},
        {U'$', "4A3B1B0A081737464433 1304|2B23"},
        {U'α', "4836241304071827 4543"},
        {U'β', "000A1B3B4A483717|374644331304"},
        {U'γ', "0824|4824|2420"},
        {U'ε', "473818071626|160504133344"},
        {U'ζ', "1B4B08051434 4332"},
        {U'η', "0308|0718384740"},
        {U'λ', "0B1B43|2703"},
        {U'μ', "0800|04133344|4843"},
        {U'ν', "082348"},
        {U'ξ', "4B1B0A1939|19071636|160504133342"},
        {U'π', "0848|1813|3833"},
        {U'ρ', "0007183847443313 04"},
        {U'σ', "48180704133344 4738"},
        {U'τ', "0848|282433"},
        {U'Σ', "5B0B370353"},
        {U'‖', "0B02|2B22"},
        {U'²', "0A1B2A0727"},
        {U'±', "0747|2925|0444"},
        {U'×', "0448|0844"},
        {U'·', "0607"},
        {U'…', "0304|2324|4344"},
        {U'≥', "0A4806|0444"},
        {U'≤', "4A0846|0444"},
        {U'→', "0666|486644"},
        {U'°', "090B2B2909"},
        {U'−', "0646"},
        {U'–', "0646"},
        {U'—', "0666"},
    };
    return table;
}

/// The next sign of UTF-8 text; what is no such text counts byte by byte as a question mark.
char32_t next_sign(std::string_view text, std::size_t& i) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    if (byte < 0x80) return byte;
    const std::size_t more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    if (byte < 0xC2 || i + more > text.size()) return U'?';
    char32_t sign = byte & (0x3FU >> more);
    for (std::size_t k = 0; k < more; ++k) {
        sign = sign << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    }
    i += more;
    return sign;
}

int digit(char c) {
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

}  // namespace

std::vector<Path> letter_strokes(std::string_view text, double size, double& width) {
    const double up = 0.088 * size;      // eight of them are a capital
    const double across = 0.086 * size;  // a little narrower than high
    std::vector<Path> strokes;
    double left = 0;
    for (std::size_t i = 0; i < text.size();) {
        const char32_t sign = next_sign(text, i);
        if (sign == U' ') {
            left += 3.4 * across;
            continue;
        }
        const auto found = letters().find(sign);
        const std::string_view code =
            (found != letters().end() ? found : letters().find(U'?'))->second;
        int widest = 0;
        strokes.emplace_back();
        for (std::size_t k = 0; k < code.size();) {
            if (code[k] == '|' || code[k] == ' ') {
                if (code[k++] == '|') strokes.emplace_back();
                continue;
            }
            const int x = digit(code[k]);
            widest = std::max(widest, x);
            strokes.back().push_back({left + across * x, -up * (digit(code[k + 1]) - 3)});
            k += 2;
        }
        left += across * (widest + 2.2);
    }
    width = std::max(0.0, left - 1.2 * across);
    return strokes;
}

double text_width(std::string_view text, double size) {
    double width = 0;
    letter_strokes(text, size, width);
    return width;
}

}  // namespace mercer::chart
