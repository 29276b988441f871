// Hidden Markov models of texts: fitted, and differentiated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/kernel/leaf/generative/detail/mixture.hpp"

namespace mercer::leaves {

/// Letters of a text as positions in the model's alphabet.
using Chain = std::vector<std::uint32_t>;
/// A letter that the model does not know: any state may have written it.
inline constexpr std::uint32_t unknown_letter = static_cast<std::uint32_t>(-1);

/// The first state is i with chance initial[i], j follows i with transition(i, j), and i writes the
/// letter o with emission(i, o). Initial chances that sum to less than 1 are those of a class with
/// that share.
struct Markov {
    std::vector<double> initial{};
    Matrix<double> transition{};
    Matrix<double> emission{};

    std::size_t states() const { return initial.size(); }
    std::size_t letters() const { return emission.columns(); }
};

/// What is expected of the hidden states when the text is known, by the forward-backward recursion
/// [Baum and others 1970], each step scaled to sum to 1.
struct Expected {
    double log = 0;                 ///< log p of the text
    std::vector<double> initial{};  ///< of the first state
    Matrix<double> transition{};    ///< how often j follows i
    Matrix<double> emission{};      ///< how often i writes o
    /// Where pairs are wanted: how often (i writes o, then j writes p), at
    /// ((i · letters + o) · states + j) · letters + p.
    std::vector<double> pairs{};
};
Expected expected_counts(const Markov& model, const Chain& text, bool with_pairs = false);

/// log p and its slopes in the logarithms of all chances, those that sum to 1 being kept so:
/// expected counts less what they would be by the chances alone.
double markov_score(const Markov& model, const Chain& text, std::vector<double>& slopes);

/// Baum and Welch's steps from chances drawn around those of the letters. The same for any number
/// of threads.
Markov fit_markov(const std::vector<Chain>& texts, std::size_t letters, const EmSettings& settings);

}  // namespace mercer::leaves
