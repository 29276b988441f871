// What the examples in the comments of public headers speak of and do not make: for all, and by
// room, because a is a matrix to a solver and a data set to a learner. Nothing is defined: the
// examples are compiled, not run.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/data/arrow.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/picture/image.hpp"

extern "C" void cblas_dgemm();
#define MERCER_OPENBLAS_LIBRARY "libopenblas.so.0"

namespace example {

using mercer::Dataset;
using mercer::Image;
using mercer::Kernel;
using mercer::Matrix;
using mercer::Model;
using mercer::Rows;

extern Dataset data, train, test, more;
extern Model model;
extern std::vector<double> x, z;
extern std::size_t row, column, channel, n, j;

namespace in_base {
extern mercer::Progress progress;
void step();
}  // namespace in_base
namespace in_chart {
using namespace mercer;
}  // namespace in_chart
namespace in_data {
extern ArrowArrayStream& stream;
extern Rows rows;
extern Image photo;
extern std::vector<Image> digits;
}  // namespace in_data
namespace in_kernel {
extern Kernel k;
extern std::size_t p, c;
}  // namespace in_kernel
namespace in_solver {
extern Matrix<double> a, b, k;
extern mercer::SymmetricOperator<double>&op, &gram;
extern std::vector<double> shift, y;
extern double C;
}  // namespace in_solver
namespace in_gram {
extern mercer::Gram<float> gram;
extern Matrix<double> k, v, w;
extern mercer::MatrixView<float> out;
}  // namespace in_gram
namespace in_dist {
extern std::size_t total;
extern mercer::Machine machine;
Dataset rows_of(const mercer::RowRange& range);
}  // namespace in_dist
namespace in_learn {
extern Dataset a, b, held_out, held_out_a, held_out_b, labelled, unlabelled, clean, noisy;
extern Rows rows, points, landmarks, candidates, starts;
extern Model reduced, quick;
extern Kernel k, kernel;
extern mercer::FeatureVector target;
extern Matrix<double> coefficients, labels, truth;
extern Image photo, noisy_photo, small;
extern std::vector<Image> photographs;
extern bool more_to_come;
struct ToySettings {
    mercer::FitSettings common{};
    double width = 1;
    bool bias = true;
};
struct Toy {
    explicit Toy(ToySettings settings);
    mercer::Task task() const;
    Model fit(const Dataset& data) const;
};
mercer::MachineEntry describe_toy();
}  // namespace in_learn
namespace in_feature {
using namespace in_learn;
}
namespace in_picture {
using namespace in_learn;
extern std::vector<Image> digits;
}  // namespace in_picture
namespace in_theory {
extern double diameter;
}
namespace in_persist {
extern mercer::Codebook book;
}
namespace in_select {
extern Dataset set_aside, labelled, pool;
extern Model a, b;
extern std::vector<std::size_t> truth;
}  // namespace in_select

}  // namespace example
