// The studio's answers to made-up requests, several to one studio: parts with a line of --- between
// them, each a line such as "GET /api/view?run=1" with a body below. Whatever is asked, a refusal
// is an answer with a number from 400 on, and what is called JSON is JSON.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reader.hpp"
#include "studio/workbench.hpp"

namespace {

using mercer::studio::Answer;
using mercer::studio::Request;

constexpr std::size_t most_requests = 6;

Request request_of(std::string_view text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t blank = std::min(line.find(' '), line.size());
    std::string_view target = line.substr(std::min(blank + 1, line.size()));
    const std::size_t mark = std::min(target.find('?'), target.size());
    std::map<std::string, std::string> query;
    for (std::string_view rest = target.substr(std::min(mark + 1, target.size())); !rest.empty();) {
        const std::string_view pair = rest.substr(0, std::min(rest.find('&'), rest.size()));
        const std::size_t equal = std::min(pair.find('='), pair.size());
        query[std::string(pair.substr(0, equal))] = pair.substr(std::min(equal + 1, pair.size()));
        rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    }
    Request request{.method = std::string(line.substr(0, blank)),
                    .path = std::string(target.substr(0, mark)),
                    .body = std::string(text.substr(std::min(end + 1, text.size())))};
    request.query = [query](const char* name) {
        const auto found = query.find(name);
        return found == query.end() ? std::string() : found->second;
    };
    return request;
}

void check(const Answer& answer) {
    if (answer.status < 200 || answer.status > 599) std::abort();
    if (answer.stream || answer.type != "application/json") return;
    if (!nlohmann::json::accept(answer.body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::string_view border = "\n---\n";
    mercer::studio::Workbench bench("");
    std::string_view text = mercer::fuzz::view_of(data, size);
    for (std::size_t k = 0; k < most_requests && !text.empty(); ++k) {
        const std::size_t end = std::min(text.find(border), text.size());
        check(bench.answer(request_of(text.substr(0, end))));
        text.remove_prefix(std::min(end + border.size(), text.size()));
    }
    return 0;
}
