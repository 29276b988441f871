#include "mercer/persist/export/detail/c_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mercer::exports {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

}  // namespace

std::string number_text(double value, bool single) {
    if (std::isnan(value)) return "NAN";
    char buffer[40];
    const auto end = single
                         ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string text(buffer, end.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + (single ? "f" : "");
}

std::string c_string(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            // Octal ends after three digits, where hexadecimal would go on.
            result += '\\';
            for (const unsigned shift : {6U, 3U, 0U}) {
                result += static_cast<char>('0' + ((byte >> shift) & 7U));
            }
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string in_comment(std::string text) {
    for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at + 1] = '|';
    for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) text[at + 1] = '|';
    for (char& c : text) {
        // A backslash, or three letters that C reads as one, could swallow the end of a line.
        if (c == '\n' || c == '\r' || c == '\\') c = ' ';
    }
    return replaced(std::move(text), "??", "? ?");
}

std::string CTables::name(std::span<const double> values) {
    const std::vector<double> key(values.begin(), values.end());
    const auto found = names_.find(key);
    if (found != names_.end()) return found->second;
    const std::string own = prefix_ + "_table" + std::to_string(names_.size() + 1);
    // What a float holds exactly takes half the place.
    const bool small = single_ || std::ranges::all_of(values, [](double v) {
                           return static_cast<double>(static_cast<float>(v)) == v;
                       });
    text_ += std::string("static const ") + (small ? "float " : "double ") + own + "[" +
             std::to_string(values.size()) + "] = {";
    for (std::size_t i = 0; i < values.size(); ++i) {
        text_ += (i % 8 == 0 ? "\n    " : " ") + number_text(values[i], small) + ",";
    }
    text_ += "\n};\n";
    names_.emplace(key, own);
    return own;
}

std::string CHelpers::text() const {
    static const std::map<std::string, const char*> bodies{
        {"logistic",
         "static REAL PREFIX_logistic(REAL z) {\n"
         "    const REAL e = expSUFFIX(z >= 0 ? -z : z);\n"
         "    return z >= 0 ? 1 / (1 + e) : e / (1 + e);\n"
         "}\n"},
        {"sign", "static REAL PREFIX_sign(REAL z) {\n    return (REAL)((z > 0) - (z < 0));\n}\n"},
        // learn/detail/platt.cpp
        {"couple",
         "/* Class probabilities from those of pairs: Wu, Lin and Weng 2004, second method. */\n"
         "static void PREFIX_couple(const REAL *pairs, int k, REAL *p, REAL *q, REAL *qp) {\n"
         "    const REAL tolerance = (REAL)0.005 / (REAL)k;\n"
         "    int t, j, round, pair = 0;\n"
         "    for (t = 0; t < k * k; ++t) q[t] = 0;\n"
         "    for (t = 0; t < k; ++t) {\n"
         "        p[t] = 1 / (REAL)k;\n"
         "        for (j = t + 1; j < k; ++j, ++pair) {\n"
         "            const REAL r = pairs[pair];\n"
         "            q[t * k + t] += (1 - r) * (1 - r);\n"
         "            q[j * k + j] += r * r;\n"
         "            q[t * k + j] = q[j * k + t] = -r * (1 - r);\n"
         "        }\n"
         "    }\n"
         "    for (round = 0; round < (k > 100 ? k : 100); ++round) {\n"
         "        REAL pqp = 0, worst = 0;\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            qp[t] = 0;\n"
         "            for (j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];\n"
         "            pqp += p[t] * qp[t];\n"
         "        }\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            const REAL off = fabsSUFFIX(qp[t] - pqp);\n"
         "            if (off > worst) worst = off;\n"
         "        }\n"
         "        if (worst < tolerance) break;\n"
         "        for (t = 0; t < k; ++t) {\n"
         "            const REAL change = (pqp - qp[t]) / q[t * k + t];\n"
         "            p[t] += change;\n"
         "            pqp = (pqp + change * (change * q[t * k + t] + 2 * qp[t])) /\n"
         "                  ((1 + change) * (1 + change));\n"
         "            for (j = 0; j < k; ++j) {\n"
         "                qp[j] = (qp[j] + change * q[t * k + j]) / (1 + change);\n"
         "                p[j] /= 1 + change;\n"
         "            }\n"
         "        }\n"
         "    }\n"
         "}\n"}};
    std::string result;
    for (const std::string& function : used_) {
        std::string body = bodies.at(function);
        body = replaced(replaced(body, "PREFIX", prefix_), "REAL", real_);
        result += replaced(body, "SUFFIX", suffix_) + "\n";
    }
    return result;
}

}  // namespace mercer::exports
