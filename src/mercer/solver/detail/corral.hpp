// The points that carry the nearest point of a polytope (Wolfe 1976), and the factor of their
// matrix.
//
// A corral is affinely independent, so that M = H + σ E is positive definite, where H is the matrix
// of its points and E_ij = 1 for two points of one side: on Σ w = 1 the term is a constant. The
// least norm over the affine hull is then w = Σ_g c_g M⁻¹ 1_g, with c such that each side adds up
// to 1. Points come and go at the cost of some |S|² flops each.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mercer {

class Corral {
   public:
    /// `shift` is σ; a point is dependent when it is within the root of this part of σ of the
    /// others.
    Corral(std::size_t sides, std::size_t most, double shift, double dependent)
        : sides_(sides), most_(most), shift_(shift), dependent_(dependent) {}

    std::size_t size() const { return member_.size(); }
    bool full() const { return size() == most_; }
    std::span<const std::size_t> members() const { return member_; }
    std::uint8_t side(std::size_t place) const { return side_[place]; }

    /// Adds variable j with its products h with the members and itself, h last. False when it
    /// depends on the members; it has then not been added.
    bool add(std::size_t j, std::uint8_t side, std::vector<double> h) {
        const std::size_t n = size();
        std::vector<double> row(n + 1);
        for (std::size_t a = 0; a < n; ++a) row[a] = h[a] + (side_[a] == side ? shift_ : 0);
        double pivot = h[n] + shift_;
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < a; ++b) row[a] -= factor_[a][b] * row[b];
            row[a] /= factor_[a][a];
            pivot -= row[a] * row[a];
        }
        if (!(pivot > dependent_ * shift_)) return false;
        row[n] = std::sqrt(pivot);
        factor_.push_back(std::move(row));
        products_.push_back(std::move(h));
        member_.push_back(j);
        side_.push_back(side);
        return true;
    }

    void remove(std::size_t place) {
        const auto at = [place](auto& list) {
            return list.begin() + static_cast<std::ptrdiff_t>(place);
        };
        member_.erase(at(member_));
        side_.erase(at(side_));
        products_.erase(at(products_));
        factor_.erase(at(factor_));
        for (std::size_t a = place; a < size(); ++a) {
            products_[a].erase(at(products_[a]));
        }
        // The rows below have an entry too many: rotations of neighbouring columns take it away.
        for (std::size_t a = place; a < size(); ++a) {
            const double x = factor_[a][a], y = factor_[a][a + 1];
            const double length = std::hypot(x, y);
            const double c = x / length, s = y / length;
            for (std::size_t b = a; b < size(); ++b) {
                const double left = factor_[b][a], right = factor_[b][a + 1];
                factor_[b][a] = c * left + s * right;
                factor_[b][a + 1] = c * right - s * left;
            }
            factor_[a].resize(a + 1);
        }
    }

    /// The weights of the point of least norm in the affine hull.
    std::vector<double> affine_minimum() const {
        std::vector<double> w = constrained(std::vector<double>(size(), 0.0), {1, 1});
        // Once more from there, which takes away most of what rounding did.
        const std::vector<double> change = constrained(apply(w), missing(w));
        for (std::size_t a = 0; a < w.size(); ++a) w[a] += change[a];
        return w;
    }

    /// How the weights have to move when a point that depends on the members comes in with weight
    /// 1; `h` are its products with them.
    std::vector<double> replacement(std::uint8_t side, std::span<const double> h) const {
        std::array<double, 2> sums{};
        sums[side] = -1;
        return constrained(h, sums);
    }

   private:
    /// H w.
    std::vector<double> apply(std::span<const double> w) const {
        std::vector<double> out(size(), 0.0);
        for (std::size_t a = 0; a < size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                out[a] += products_[a][b] * w[b];
                out[b] += products_[a][b] * w[a];
            }
            out[a] += products_[a][a] * w[a];
        }
        return out;
    }

    std::array<double, 2> missing(std::span<const double> w) const {
        std::array<double, 2> left = {1, 1};
        for (std::size_t a = 0; a < w.size(); ++a) left[side_[a]] -= w[a];
        return left;
    }

    std::vector<double> solve(std::span<const double> b) const {
        std::vector<double> x(b.begin(), b.end());
        for (std::size_t a = 0; a < x.size(); ++a) {
            for (std::size_t c = 0; c < a; ++c) x[a] -= factor_[a][c] * x[c];
            x[a] /= factor_[a][a];
        }
        for (std::size_t a = x.size(); a-- > 0;) {
            x[a] /= factor_[a][a];
            for (std::size_t c = 0; c < a; ++c) x[c] -= factor_[a][c] * x[a];
        }
        return x;
    }

    /// min ½ d'Hd + g'd with the wanted sums over the sides.
    std::vector<double> constrained(std::span<const double> g, std::array<double, 2> sums) const {
        std::vector<double> negative(g.size());
        for (std::size_t a = 0; a < g.size(); ++a) negative[a] = -g[a];
        std::vector<double> d = solve(negative);
        std::array<std::vector<double>, 2> way;
        double matrix[2][2] = {{1, 0}, {0, 1}};
        for (std::size_t s = 0; s < sides_; ++s) {
            std::vector<double> ones(size());
            for (std::size_t a = 0; a < size(); ++a) ones[a] = side_[a] == s ? 1 : 0;
            way[s] = solve(ones);
            for (std::size_t t = 0; t < sides_; ++t) matrix[t][s] = 0;
            for (std::size_t a = 0; a < size(); ++a) matrix[side_[a]][s] += way[s][a];
        }
        for (std::size_t a = 0; a < size(); ++a) sums[side_[a]] -= d[a];
        if (sides_ == 1) sums[1] = 0;
        const double determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
        const std::array<double, 2> c = {
            (sums[0] * matrix[1][1] - sums[1] * matrix[0][1]) / determinant,
            (sums[1] * matrix[0][0] - sums[0] * matrix[1][0]) / determinant};
        for (std::size_t s = 0; s < sides_; ++s) {
            for (std::size_t a = 0; a < size(); ++a) d[a] += c[s] * way[s][a];
        }
        return d;
    }

    std::size_t sides_;
    std::size_t most_;
    double shift_;
    double dependent_;
    std::vector<std::size_t> member_{};
    std::vector<std::uint8_t> side_{};
    std::vector<std::vector<double>> products_{};  ///< row a: with members 0 … a
    std::vector<std::vector<double>> factor_{};    ///< L of M = L L', row by row
};

}  // namespace mercer
