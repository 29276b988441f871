// What somebody wants to know of a data set before learning from it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer MERCER_API {

/// One column over all rows, zeros that are not stored included.
struct ColumnSummary {
    double low = 0;
    double high = 0;
    double mean = 0;
    double deviation = 0;  ///< square root of the mean squared distance to the mean
    std::size_t nonzeros = 0;
    bool constant() const { return low == high; }
};

/// A column of texts, graphs or nodes.
struct ObjectSummary {
    std::string name{};
    ObjectKind kind = ObjectKind::text;
    std::size_t shortest = 0;  ///< bytes of a text, nodes of a graph, or of the one graph
    std::size_t longest = 0;
    double mean = 0;
    std::string letters{};       ///< of texts: the different bytes, ascending
    std::size_t words = 0;       ///< different ones, large and small letters alike
    bool trees = false;          ///< each text is a tree in brackets: (S (NP cats) (VP sleep))
    std::size_t edges = 0;       ///< of all graphs
    std::size_t labels = 0;      ///< different labels of nodes
    std::size_t attributes = 0;  ///< numbers per node
};

/// How the labels look: names or few whole numbers are classes, anything else is a real target.
enum class LabelKind { none, classes, real };

struct Summary {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool sparse = false;
    bool double_precision = false;
    std::size_t bytes = 0;     ///< memory of the numbers
    std::size_t nonzeros = 0;  ///< entries other than 0
    double density = 0;        ///< nonzeros / (rows × columns)
    double low = 0;            ///< over all entries
    double high = 0;
    bool whole_numbers = false;      ///< every entry is one
    bool unit_rows = false;          ///< every row has length 1 within rounding
    std::size_t zero_rows = 0;       ///< rows without an entry other than 0
    std::size_t duplicates = 0;      ///< rows equal to an earlier row
    std::size_t contradictions = 0;  ///< those of them whose label differs from that row's
    std::vector<ColumnSummary> column;
    std::vector<std::size_t> constant_columns;
    std::vector<ObjectSummary> objects;

    LabelKind label_kind = LabelKind::none;
    std::vector<std::pair<std::string, std::size_t>> classes;  ///< name and rows, in class order
    bool grouped = false;      ///< classes stand one after another, each in one run
    ColumnSummary label;       ///< of a real target
    std::size_t distinct = 0;  ///< different label values

    /// Sentences for people: what is likely to go wrong, and what to do about it.
    std::vector<std::string> advice;
};

Summary summarize(const Dataset& data);

}  // namespace mercer
