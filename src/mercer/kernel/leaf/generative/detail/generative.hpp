// Kernels with a generative model inside, gmm on rows of numbers or hmm on texts: what fisher, top
// and marginalised share. The model is a rule until it is fitted to data (`settle`), and from then
// on its numbers are part of the kernel's text:
//
//     fisher(gmm(components=2))   ->   fisher(gmm(weights=[0.4,0.6], means=[[0],[1]], variances=…))
#pragma once

#include <string>
#include <vector>

#include "mercer/kernel/leaf/detail/letters.hpp"
#include "mercer/kernel/leaf/generative/detail/markov.hpp"
#include "mercer/kernel/leaf/generative/detail/mixture.hpp"

namespace mercer::leaves {

enum class ModelKind { gmm, hmm };
ModelKind model_kind(const KernelNode& node);

/// What a leaf of this family takes beside its models.
std::vector<ParameterForm> generative_forms(std::vector<ParameterForm> more);

/// Between the parentheses of a leaf: its models, `gmm(…)` or `hmm(…)`, and parameters of its own.
/// `models` is how many of them a settled leaf has. Fails with a place and a message for tables
/// that do not fit together.
KernelNode read_generative(Scanner& in, const KernelEntry& entry, std::size_t models);
std::string generative_arguments(const KernelNode& node);
ObjectKind generative_objects(const KernelNode& node);
inline bool is_unfitted(const KernelNode& node) {
    return node.learnt == nullptr;
}

/// The models of a settled leaf.
Mixture mixture_of(const KernelNode& node, std::size_t model);
Markov markov_of(const KernelNode& node, std::size_t model);
/// The letters of a text, as the model knows them.
Chain chain_of(const KernelNode& node, const Object& object);

/// log p of the object by one of the leaf's models, with its slopes.
double model_score(const KernelNode& node, std::size_t model, const Object& object,
                   std::vector<double>& slopes);

/// The leaf with a model fitted to the objects of each class, `classes[i]` from 0 to models - 1, or
/// to all of them where `models` is 1. What only fitting needs is no longer there.
KernelNode fit_models(const KernelNode& node, std::span<const Object> objects,
                      std::span<const std::int32_t> classes, std::size_t models);

/// What a fitted leaf compares two objects by: a list of slopes.
using Score = std::vector<double> (*)(const KernelNode&, const Object&);
/// The fitted leaf with numbers by which the slopes are multiplied, so that each is of mean square
/// 1 over the objects: the diagonal of the empirical Fisher information, ^(−1/2). With
/// information=identity there are none.
KernelNode scaled(KernelNode fitted, std::span<const Object> objects, Score score);
/// Puts a score down as features, multiplied by the leaf's scale where it has one.
void write_features(const KernelNode& node, const std::vector<double>& score, Features& out);

/// A leaf with models inside, all but what tells it from others of this family.
Leaf generative_leaf(KernelEntry entry, decltype(Leaf::features) features,
                     decltype(Leaf::read) read, decltype(Leaf::settle) settle);

}  // namespace mercer::leaves
