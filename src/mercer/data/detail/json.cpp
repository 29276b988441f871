#include "mercer/data/detail/json.hpp"

#include <set>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

using Json = nlohmann::json;

/// Looks at the shape of a text and keeps nothing of it. The parser's own callback could do the
/// same, but with one it goes over all members so far after each of them: 80 000 took minutes.
class ShapeCheck final : public nlohmann::json_sax<Json> {
   public:
    ShapeCheck(int deepest, const std::string& place) : deepest_(deepest), place_(place) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override {
        deeper();
        names_.emplace_back();
        return true;
    }
    bool key(string_t& name) override {
        if (!names_.back().insert(name).second) {
            throw InvalidInput(place_ + ": " + mercer::quoted(name) + " is given twice");
        }
        return true;
    }
    bool end_object() override {
        names_.pop_back();
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override {
        deeper();
        return true;
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
        throw InvalidInput(place_ + ": not valid JSON: " + mercer::quoted(error.what(), 160));
    }

   private:
    void deeper() {
        if (depth_ >= deepest_) {
            throw InvalidInput(place_ + ": nested deeper than " + std::to_string(deepest_) +
                               " levels");
        }
        ++depth_;
    }

    int deepest_;
    const std::string& place_;
    int depth_ = 0;
    std::vector<std::set<std::string>> names_{};  ///< of the objects that are open
};

}  // namespace

Json parse_json(std::string_view text, int deepest, const std::string& place) {
    ShapeCheck check(deepest, place);
    Json::sax_parse(text, &check);
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        throw InvalidInput(place + ": not valid JSON: " + mercer::quoted(error.what(), 160));
    }
}

}  // namespace mercer
