// Probabilities from decision values.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {

/// P(first class | f) = 1 / (1 + exp(a f + b)), without overflow.
double probability(const Sigmoid& sigmoid, double f);

/// What is known of so many labels of each kind without a decision value.
Sigmoid prior_sigmoid(std::size_t positive, std::size_t negative);

/// The sigmoid that makes the labels (+1 for the first class, −1) most likely, by Newton's method
/// on Platt's smoothed targets (Platt 2000; Lin, Lin and Weng 2007).
Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels);

/// Class probabilities p with p_a / (p_a + p_b) near the given pairwise(a, b): the second method of
/// Wu, Lin and Weng (2004), minimising Σ (pairwise(b,a) p_a − pairwise(a,b) p_b)² over Σ p = 1.
std::vector<double> couple(const Matrix<double>& pairwise);

}  // namespace mercer
