// How kernels are put together inside this room. Factories, parser and resolve all build through
// these functions, so that every tree is checked and in the one form that prints back exactly:
//   sum      no sum inside, no two constants side by side
//   product  no product, scale or constant inside (factors move to one scale around it)
//   scale    neither a scale nor a constant inside; a factor of 1 that was written stays, for it is
//            a parameter like any other
//   power    no constant inside
//   columns  k[a][b] is columns(a, columns(b, k)): b counts within a
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/kernel/detail/node.hpp"

namespace mercer {

class Scanner;

/// A tree deeper or larger than this is refused: nobody wrote it by hand, and walking it would
/// exhaust the stack or the memory.
inline constexpr std::size_t deepest_kernel = 250;
inline constexpr std::size_t largest_kernel = 100'000;

/// Bounds the tree and takes it.
Kernel make_node(KernelNode node);
/// A kernel with named parameters; each is checked, aliases become the form's main name, and the
/// order becomes the table's.
Kernel make_leaf(const Leaf& leaf, GivenParameters given);
Kernel make_constant(double value);
Kernel make_sum(const std::vector<Kernel>& parts);
Kernel make_product(const std::vector<Kernel>& parts);
Kernel make_scale(double factor, const Kernel& k);
Kernel make_power(const Kernel& k, double exponent);
/// exp, normalize, center
Kernel make_wrapped(KernelKind kind, const Kernel& k);
Kernel make_sets(const Kernel& k, GivenParameters given);
Kernel make_rbf_of(const Kernel& k, GivenParameters given);
/// Throws InvalidInput when no function is registered under the name.
Kernel make_user(const std::string& name);

/// The entry of a combination.
const KernelEntry& combination_entry(KernelKind kind);
/// The entry that text names, or null. Sums, products and the like are written with operators.
const KernelEntry* find_entry(std::string_view name);
/// The names that text may use, with or without aliases.
std::vector<std::string> kernel_names(bool with_aliases);
/// The form whose name or alias this is, or null.
const ParameterForm* find_form(const KernelEntry& entry, std::string_view name);
/// What an alias stands for beside the name: matern12 is matern(nu=0.5).
GivenParameters preset_parameters(const KernelEntry& entry, std::string_view alias);
/// Empty when the value is allowed, else what is wrong with it.
std::string parameter_problem(const KernelEntry& entry, const ParameterForm& form,
                              const Parameter& value);
/// "gamma, sigma, c, width": what a message offers.
std::string parameter_names(const KernelEntry& entry);
/// The parameter under its canonical name, as a number where it is one.
Parameter canonical_parameter(const KernelNode& node, std::string_view canonical);
/// "0.5", "scale", "auto"
std::string parameter_text(const Parameter& value);
/// The same for a value of this parameter, which may have words for its values.
std::string parameter_text(const ParameterForm& form, const Parameter& value);

/// "[0:10,12,age]" at the scanner's place.
ColumnSet read_columns(Scanner& in);
/// "[[1,0],[0,2]]" at the scanner's place, and the way back.
Matrix<double> read_matrix(Scanner& in);
std::string matrix_text(const Matrix<double>& a);

}  // namespace mercer
