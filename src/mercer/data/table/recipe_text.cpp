// The written form of a recipe, as model files keep it.
#include <cmath>
#include <nlohmann/json.hpp>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/json.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer {
namespace {

using Json = nlohmann::json;

constexpr Words date_orders{std::pair{DateOrder::year_first, "year-first"},
                            std::pair{DateOrder::day_first, "day-first"},
                            std::pair{DateOrder::month_first, "month-first"}};

Json json_of_column(const TableColumn& c) {
    Json json{{"name", c.name},
              {"kind", std::string(column_kinds.word(c.kind))},
              {"position", c.position},
              {"gaps", c.gaps}};
    if (!c.levels.empty()) json["levels"] = c.levels;
    if (c.more_levels) json["more_levels"] = true;
    if (c.kind == ColumnKind::date) {
        json["order"] = std::string(date_orders.word(c.order));
        json["has_time"] = c.has_time;
    }
    return json;
}

Json json_of_fitted(const Recipe::Fitted& f) {
    Json json{{"fill", f.fill}, {"center", f.center}, {"spread", f.spread}};
    if (f.bent) json["bent"] = {f.middle, f.reach};
    if (!f.seen.empty()) json["seen"] = f.seen;
    return json;
}

TableColumn column_from(const Json& json) {
    TableColumn c;
    c.name = json.at("name").get<std::string>();
    c.kind = column_kinds.value(json.at("kind").get<std::string>(), "kind");
    c.position = json.at("position").get<std::size_t>();
    c.gaps = json.at("gaps").get<bool>();
    if (json.contains("levels")) c.levels = json.at("levels").get<std::vector<std::string>>();
    c.more_levels = json.value("more_levels", false);
    if (c.kind == ColumnKind::date) {
        c.order = date_orders.value(json.at("order").get<std::string>(), "order");
        c.has_time = json.at("has_time").get<bool>();
    }
    return c;
}

Recipe::Fitted fitted_from(const Json& json) {
    Recipe::Fitted f;
    f.fill = json.at("fill").get<double>();
    f.center = json.at("center").get<double>();
    f.spread = json.at("spread").get<double>();
    f.bent = json.contains("bent");
    if (f.bent) {
        f.middle = json.at("bent").at(0).get<double>();
        f.reach = json.at("bent").at(1).get<double>();
    }
    if (json.contains("seen")) f.seen = json.at("seen").get<std::vector<bool>>();
    return f;
}

}  // namespace

std::string Recipe::json() const {
    Json columns = Json::array();
    for (const TableColumn& column : columns_->columns()) columns.push_back(json_of_column(column));
    Json fitted = Json::array();
    for (const Fitted& f : fitted_) fitted.push_back(json_of_fitted(f));
    const ColumnRoles& roles = columns_->roles();
    Json json{{"columns", std::move(columns)},
              {"fitted", std::move(fitted)},
              {"label", roles.label_name},
              {"weight", roles.weight_name},
              {"label_is_text", columns_->label_is_text()},
              {"decimal_comma", columns_->decimal_comma()},
              {"left_out", columns_->left_out()}};
    if (roles.label != ColumnRoles::none) json["label_position"] = roles.label;
    if (roles.weight != ColumnRoles::none) json["weight_position"] = roles.weight;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Recipe Recipe::from_json(std::string_view text, const std::string& place) {
    const Json json = parse_json(text, 8, place);
    try {
        std::vector<TableColumn> columns;
        for (const Json& item : json.at("columns")) columns.push_back(column_from(item));
        std::vector<Fitted> fitted;
        for (const Json& item : json.at("fitted")) fitted.push_back(fitted_from(item));
        ColumnRoles roles;
        roles.label_name = json.at("label").get<std::string>();
        roles.weight_name = json.at("weight").get<std::string>();
        roles.label = json.value("label_position", ColumnRoles::none);
        roles.weight = json.value("weight_position", ColumnRoles::none);
        auto table = std::make_shared<const TableColumns>(
            std::move(columns), std::move(roles), json.at("label_is_text").get<bool>(),
            json.at("decimal_comma").get<bool>(),
            json.at("left_out").get<std::vector<std::string>>());
        return Recipe(std::move(table), std::move(fitted));
    } catch (const Json::exception& error) {
        throw InvalidInput(place + ": is no recipe that was saved: " + error.what());
    } catch (const InvalidInput& error) {
        throw InvalidInput(place + ": " + error.what());
    }
}

}  // namespace mercer
