// The dual by proximal points and Newton's method, where K = ΦΦ'. About a centre c the problem
//
//     minimise  ½ ‖Σ s_i u_i φ_i‖² + p'u + ½ Σ h_i (u_i − c_i)²,   u in its box, A u = b
//
// has a dual of as many numbers as Φ has columns, and one an equality,
//
//     minimise  F(w, λ) = ½ ‖w‖² − b'λ − Σ_i min_u [ g_i u + ½ h_i (u − c_i)² ],
//     g_i = s_i φ_i·w + p_i − a_i'λ,
//
// whose slope is piecewise linear: u_i = c_i − g_i/h_i, cut to its box. Only rows whose variables
// are not cut add to its curvature, and there are few. So a Newton step costs the products of the
// rows that may come to a kink on its way, and a system of the free rows
// (solver/weights/detail/newton_system.hpp); F along it is known from the variables that move
// (Rockafellar 1976; Li, Sun and Toh 2018). Then c becomes u, and h falls: h_i is `width` over the
// length of the box of u_i, so that where F is least no condition of optimality is violated by more
// than `width`.
//
// A row whose variables are all at a bound is left alone until w and λ have gone as far as it takes
// to bring it to a kink, which Cauchy's inequality says beforehand: near the optimum most rows are
// never looked at again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/weights/detail/newton_system.hpp"

namespace mercer {

template <class T>
class ProximalNewton {
   public:
    /// Where to begin: u, inside the box, is the centre; w may be empty and is then Σ s u φ.
    struct Start {
        std::vector<double> u;
        std::array<double, 2> lambda{};
        double width = 1;
        std::vector<double> w{};
    };

    /// The form and the rows must live as long as this.
    ProximalNewton(const CanonicalDual& form, const ExplicitRows<T>& rows, Start start);

    /// One Newton step. False when rounding allows none.
    bool step();
    /// The centre moves to u, and the width becomes this one.
    void narrow(double width);

    double width() const { return width_; }
    /// How much the last step, taken as a whole, would change a gradient, about.
    double last_change() const { return last_change_; }
    /// By how much w is not Σ s u φ, as a change of gradients.
    double residual() const;
    /// The largest gradient of a free variable.
    double violation() const;
    /// What the variables near a kink leave between f(u) and the optimum.
    double gap() const;
    double objective() const;
    std::uint64_t entries() const { return entries_; }  ///< of rows, read so far
    const std::vector<double>& u() const { return u_; }
    const std::vector<double>& w() const { return w_; }
    const std::array<double, 2>& lambda() const { return lambda_; }

   private:
    /// A variable that the whole step would move: a step of t moves it by offset − t·slope, cut to
    /// [low, high]. Times `rate` this is its part in F'(t).
    struct Mover {
        double offset, slope, low, high, rate;
    };
    /// Some rows that follow each other: what one task works on.
    struct Piece {
        std::vector<std::uint32_t> near{};     ///< rows looked at in this step
        std::vector<std::uint32_t> stale{};    ///< of them, those whose φ·w is not known
        std::vector<double> along{};           ///< φ·Δw of each
        std::vector<std::uint32_t> moved{};    ///< rows with variables away from their centre
        std::vector<std::uint32_t> free{};     ///< rows with free variables, and
        std::vector<double> weight{};          ///< the lengths of those variables' boxes
        std::vector<std::uint32_t> changed{};  ///< rows whose variables have moved, and
        std::vector<double> by{};              ///< what that adds to their weight in w
        std::array<double, 2> balance{};       ///< and to A u
        double linear = 0;                     ///< and to p'u
        std::vector<Mover> movers{};
        std::uint64_t entries = 0;
    };

    /// Calls use(i) for the variables of a row.
    template <class Use>
    void each_variable(std::size_t row, Use use) const;
    double room(std::size_t i) const;
    double gradient(std::size_t i, double product) const;
    void measure_rows();
    void find_owners();
    bool direction();
    void look(double reach);
    void find_near(std::size_t piece, double reach, bool moves);
    void multiply(Piece& piece, bool moves);
    void tell_products(const Partners& partners, bool moves);
    void find_movers(Piece& piece);
    double slope(double t) const;
    double search() const;
    void settle(Piece& piece, double t);
    void settle_all(double t);

    const CanonicalDual& form_;
    const ExplicitRows<T>& rows_;
    std::vector<std::uint32_t> first_{}, owner_{};  ///< variables by row, unless they are the rows
    std::vector<double> length_;                    ///< of a row and its coefficients together
    double mean_length_ = 1;
    double unit_ = 1;  ///< length of a box without an end
    double width_;
    std::vector<double> u_, centre_;
    std::vector<double> w_, sum_;  ///< and Σ s u φ
    std::array<double, 2> lambda_, balance_{};
    double linear_ = 0;
    std::vector<double> product_;  ///< φ·w when a row was last looked at
    std::vector<double> due_;      ///< how long the path of (w, λ) may be until it has to be again
    std::vector<std::uint32_t> seen_;  ///< the step after which its product was right
    std::vector<char> is_moved_;
    std::uint32_t steps_ = 1;
    double path_ = 0;
    std::vector<Piece> pieces_;
    NewtonSystem<T> system_;
    std::vector<std::uint32_t> rows_at_hand_{};  ///< free ones, or changed ones
    std::vector<double> weights_at_hand_{};      ///< of each
    std::vector<double> step_;                   ///< Δw, Δλ
    double last_change_ = 0;
    std::uint64_t entries_ = 0;
};

extern template class ProximalNewton<float>;
extern template class ProximalNewton<double>;

}  // namespace mercer
