// Everything a program that uses Mercer is likely to want, in one line:
//
//   #include <mercer/mercer.hpp>
//
// A first program (examples/train_and_predict.cpp):
//
//   Dataset data = read("digits.csv");                           // any format, compressed or not
//   Kernel kernel = rbf({.gamma = 1e-3}) + 0.1 * linear();       // a value: print it, combine it
//   Model model = svc({.kernel = kernel, .C = 10}).fit(data);
//   model.report().relative_gap;                                 // proved distance to the optimum
//   Predictor predictor(model);                                  // may be asked from any thread
//   Labels labels = predictor.predict_labels(read("unseen.csv").x);
//   save(model, "digits.mercer");
//
// The rooms below stand from the bottom up; each header can be included by itself, and then costs
// only what it needs. Bad input throws InvalidInput, whose text names the place, the value, what is
// allowed and the remedy; running out of time or patience never throws, it is a status in the
// result. Long work takes a Progress, which may end it. Kernels, rows and models are values, safe
// to read from several threads. `ThreadLimit` says how many threads a call may use; the answer does
// not depend on it.
#pragma once

// base: errors, matrices, operators, threads, random numbers, progress.
#include "mercer/base/error.hpp"
#include "mercer/base/formula.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/random.hpp"

// data: rows and data sets, read, written, made, described and scaled.
#include "mercer/data/arrow.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/data/summary.hpp"
#include "mercer/data/write.hpp"

// kernel: expressions, and whether they are positive definite.
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/kernel/table.hpp"

// gram: blocks of kernel values at matrix-multiply speed.
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/gram/operators.hpp"

// solver: the one dual, and linear algebra for operators that are never stored.
#include "mercer/solver/dual.hpp"
#include "mercer/solver/linear/conjugate_gradient.hpp"
#include "mercer/solver/linear/eigen.hpp"

// feature: what machines learn, and the geometry of the space they learn it in.
#include "mercer/feature/expansion.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/feature/neighbours.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/feature/spectral.hpp"

// dist: several processes that learn one machine.
#include "mercer/dist/communicator.hpp"

// learn: machines, the models they make, and predictions.
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/learn/components/dependency.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/groups/label_spreading.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/multi_label.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/report.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/given_loss.hpp"
#include "mercer/learn/risk/gp_classifier.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/neighbours.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

// picture: images, what machines find in them and make of them.
#include "mercer/picture/denoise.hpp"
#include "mercer/picture/detect.hpp"
#include "mercer/picture/image.hpp"
#include "mercer/picture/superres.hpp"
#include "mercer/picture/tangent.hpp"
#include "mercer/picture/transform.hpp"

// theory: what can be promised of a machine, and checked.
#include "mercer/theory/alignment.hpp"
#include "mercer/theory/bounds.hpp"
#include "mercer/theory/capacity.hpp"
#include "mercer/theory/certificate_check.hpp"
#include "mercer/theory/margin.hpp"
#include "mercer/theory/mercer_test.hpp"
#include "mercer/theory/radius_margin.hpp"

// select: how good a machine is, and which settings make it better.
#include "mercer/select/automatic.hpp"
#include "mercer/select/conformal.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/features.hpp"
#include "mercer/select/judge.hpp"
#include "mercer/select/metrics.hpp"
#include "mercer/select/search.hpp"
#include "mercer/select/search_space.hpp"
#include "mercer/select/structure.hpp"

// persist: models in files.
#include "mercer/persist/code_file.hpp"
#include "mercer/persist/model_file.hpp"

// chart: figures, written as SVG or PNG.
#include "mercer/chart/chart.hpp"
#include "mercer/chart/model_figures.hpp"

#include "mercer/version.hpp"
