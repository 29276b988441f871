#include "mercer/data/detail/json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

std::string refusal(const std::string& text, int deepest = 3) {
    try {
        parse_json(text, deepest, "here");
        return "";
    } catch (const InvalidInput& error) {
        return error.what();
    }
}

TEST(HostileJson, ShapeIsCheckedBeforeAnythingIsKept) {
    EXPECT_EQ(refusal(R"({"a":[{"b":1}]})"), "");
    EXPECT_EQ(refusal(R"({"a":[{"b":[]}]})"), "here: nested deeper than 3 levels");
    EXPECT_EQ(refusal(std::string(1'000'000, '[')), "here: nested deeper than 3 levels");
    EXPECT_EQ(refusal(R"({"a":1,"b":2,"a":3})"), "here: 'a' is given twice");
    EXPECT_EQ(refusal(R"({"a":{"x":1},"b":{"x":1}})"), "");
    EXPECT_EQ(refusal(R"({"a":)").find("here: not valid JSON: "), 0U);
    EXPECT_EQ(refusal("{\"a\":\"\xff\"}").find("here: not valid JSON: "), 0U);
    EXPECT_EQ(parse_json(R"({"a":[1,2]})", 2, "here")["a"][1], 2);
}

// With nlohmann's own callback each member costs a walk over all before it: this took hours.
TEST(HostileJson, ManySmallObjectsTakeTimeThatGrowsWithTheirNumber) {
    std::string text = "{";
    for (int i = 0; i < 400'000; ++i) {
        text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
    }
    EXPECT_EQ(parse_json(text + "}", 2, "here").size(), 400'000U);
}

}  // namespace
}  // namespace mercer
