// Where learners get the operator of a Gram matrix from, and the engine that fills its blocks. They
// say what they will do with it and how much memory it may have; which class serves them, and where
// its values lie, is decided here.
//
//   const auto gram = make_gram<float>(rbf({.gamma = 0.5}), data.x);
//   SharedOperator<float> k = make_operator(gram, {.reuse = Reuse::whole});
//   std::vector<double> diagonal(k->size());
//   k->diagonal(diagonal);
//
// Another kind of operator (values on disk, rows spread over machines) is one more class behind
// `make_operator`; tests/repository/rooms_test.cpp sees to it that no learner makes one itself.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer MERCER_API {

/// The engine of a kernel on the rows that settle what it leaves open (Gram's constructor).
template <class T>
Gram<T> make_gram(const Kernel& kernel, const Rows& rows, std::span<const std::string> names = {},
                  const Progress& progress = {});

template <class T>
using SharedOperator = std::shared_ptr<const SymmetricOperator<T>>;

/// Which values will be asked for again.
enum class Reuse {
    none,    ///< each is wanted about once: nothing is kept
    marked,  ///< rows whose second use the solver announces (`add_rows`), for one problem at a time
    rows,    ///< any row, by several problems: those asked for last are kept, whole
    whole,   ///< all of them, many times: stored at once where they fit, else as `rows`
};

struct OperatorRequest {
    Reuse reuse = Reuse::none;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for values that are kept
    Progress progress{};                              ///< while values are stored at once
    /// Those who hold the matrix together with this process, each of which has all rows, makes the
    /// same requests and keeps its part of the values; they must outlive the operator. Null:
    /// nobody.
    const Partners* partners = nullptr;
};

/// The matrix of the reference rows. Operators that keep values are for one thread at a time.
/// Throws Cancelled when the progress says so.
template <class T>
SharedOperator<T> make_operator(const Gram<T>& gram, const OperatorRequest& request);
/// The same for other points, prepared by the engine.
template <class T>
SharedOperator<T> make_operator(const Gram<T>& gram, const Points<T>& points,
                                const OperatorRequest& request);
/// The rows and columns at `positions` of another operator, whose values it shares.
template <class T>
SharedOperator<T> sub_operator(SharedOperator<T> whole, std::vector<std::size_t> positions);
/// A matrix that is there already. Throws InvalidInput unless it is square, finite and symmetric to
/// within rounding.
template <class T>
SharedOperator<T> matrix_operator(MatrixView<const T> matrix);

extern template Gram<float> make_gram(const Kernel&, const Rows&, std::span<const std::string>,
                                      const Progress&);
extern template Gram<double> make_gram(const Kernel&, const Rows&, std::span<const std::string>,
                                       const Progress&);
extern template SharedOperator<float> make_operator(const Gram<float>&, const OperatorRequest&);
extern template SharedOperator<float> make_operator(const Gram<float>&, const Points<float>&,
                                                    const OperatorRequest&);
extern template SharedOperator<float> sub_operator(SharedOperator<float>, std::vector<std::size_t>);
extern template SharedOperator<float> matrix_operator(MatrixView<const float>);
extern template SharedOperator<double> make_operator(const Gram<double>&, const OperatorRequest&);
extern template SharedOperator<double> make_operator(const Gram<double>&, const Points<double>&,
                                                     const OperatorRequest&);
extern template SharedOperator<double> sub_operator(SharedOperator<double>,
                                                    std::vector<std::size_t>);
extern template SharedOperator<double> matrix_operator(MatrixView<const double>);

}  // namespace mercer
