// What came of learning from a table, as one page that stands alone: no scripts, no outside
// addresses.
//
//   const LearnResult result = learn_table(data, {.seconds = 60});
//   const std::string html = chart::learn_report(result, data, {.title = "customers.csv"});
#pragma once

#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/select/automatic.hpp"

namespace mercer MERCER_API {
namespace chart {

struct ReportTexts {
    std::string title{};
    std::vector<std::string> commands{};  ///< that do it again
    std::string python{};                 ///< the same in Python
};

/// The data, the machines tried, the judgement with its pictures, what columns add, the worst
/// mistakes with the training rows that weighed most, the certificate, and how to do it again.
/// Every text of the data is escaped.
std::string learn_report(const LearnResult& result, const Dataset& data, const ReportTexts& texts);

}  // namespace chart
}  // namespace mercer
