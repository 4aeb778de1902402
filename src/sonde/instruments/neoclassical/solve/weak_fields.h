// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <vector>

#include "sonde/engine/math/dense/cholesky.h"
#include "sonde/instruments/neoclassical/operators/parity.h"
#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/block_step.h"

namespace sonde::neoclassical {

/// All weak fields of one collisionality from one Krylov space, for `skew` and stellarator symmetry. With A the
/// operator at E_hat = 0 and X that of the field,
///     (A + E_hat X) u = s ,   u = A^-1 w ,   (1 + E_hat X A^-1) w = s :
/// the space of s, X A^-1 s, (X A^-1)^2 s, ... does not depend on E_hat, and for each E_hat the w in it with the least
/// residual costs next to nothing (shifted systems: Frommer, Glaessner, SIAM J. Sci. Comput. 19 (1998) 15). A keeps the
/// class of functions that the sources drive and its complement apart (operators/parity.h) and X exchanges them, so
/// that each vector lies in one class. Everything in float64. A case takes as many vectors as it needs, whether they
/// are there from another field or made for it: its numbers are the same.
class WeakFields {
 public:
  /// Above this the elimination of the case itself takes less time, measured at 312 unknowns.
  static constexpr Index most_vectors = 32;
  /// Of the rest of all rows, in the 2-norm, to that of the source.
  static constexpr double enough = 1e-13;

  /// Where nu_hat is less than this part of the largest row of A, A^-1 is refined once: rows of small blocks meet
  /// solutions of the order of 1 / nu_hat, and the first substitution leaves some of their rounding.
  static constexpr double rare = 1e-5;

  WeakFields(const DriftKinetic& equation, const ParityBasis& basis, const ParityBlocks& blocks, BlockStep step = {});
  /// What one of n_xi holds.
  static std::size_t bytes(Index points, Index n_xi);

  /// Whether it may be worth the try: the field is weak beside streaming and collisions, and these are not so rare that
  /// hardly any field is. Measured on three surfaces; solve() decides.
  [[nodiscard]] static bool suits(const DriftKinetic& equation, const Case& at);

  /// The solutions for both sources, k = 0, 1, 2 on the grid, and for each how large the rest is, relative to the
  /// largest source: that of the rows k = 0, 1, 2 is found anew from the solution. Returns the count of vectors, 0
  /// where most_vectors do not suffice or A cannot be factorised. Takes memory when n_xi is larger than it ever was.
  Index solve(const Case& at, Index n_xi, std::array<std::vector<double>, 3>& radial,
              std::array<std::vector<double>, 3>& parallel, std::array<double, 2>& residual);

 private:
  using Field = std::vector<double>;
  static constexpr Index lowest = 4;  ///< Legendre indices of a solution that the rows k = 0, 1, 2 need
  enum class Class { driven, other };

  struct Drive {
    Field vectors;                   // [most_vectors + 1][n_xi + 1][size_], orthonormal
    Field solved;                    // [most_vectors][lowest][size_]: A^-1 of them
    Field hessenberg;                // [most_vectors][most_vectors + 1]: columns of X A^-1 in the vectors
    double length = 0, largest = 0;  // of the source: its 2-norm and its largest entry
    Field rotated, right, weights;   // of a least-squares problem
    std::array<double, most_vectors> cosine{}, sine{};
  };

  [[nodiscard]] Parity parity(Class which, Index k) const;
  [[nodiscard]] Index count(Class which, Index k) const { return blocks_.count(parity(which, k)); }
  [[nodiscard]] dense::Matrix<double> factor(Class which, Index k);
  [[nodiscard]] double* vector(Drive& drive, Index which) const {
    return drive.vectors.data() + which * levels_ * size_;
  }

  void begin(double nu_hat, Index n_xi);
  bool factorise(Class which, double nu_hat);
  void start(const DriftKinetic::Drive& source, Drive& drive);
  void extend();
  void invert(Class which);
  void add_streaming(Class which, Index to, Index from, double scale, std::span<const double> x,
                     std::span<double> y) const;
  void subtract_product(Class which, const Field& x, Field& rest) const;
  void cross(Class from, const double* x, double* y);
  [[nodiscard]] double minimise(Drive& drive, double epsi_hat, Index column);
  void combine(Drive& drive, Index vectors, std::array<Field, lowest>& solution);
  [[nodiscard]] double rest(const Case& at, const DriftKinetic::Drive& source, const std::array<Field, lowest>& u);

  const DriftKinetic& equation_;
  const ParityBasis& basis_;
  const ParityBlocks& blocks_;
  BlockStep step_;
  SparseRows even_odd_, odd_even_;  // streaming
  Index size_, levels_ = 0;
  double nu_hat_ = 0;
  bool factorised_ = false;
  Index made_ = 0;  // vectors, less the first
  Field factors_;   // [k]: of the driven class below the diagonal, of the other transposed and a column further
  Field block_, solution_, inverses_, scratch_;
  std::array<Field, 2> work_, first_;  // one for each drive
  std::array<Field, lowest> radial_, parallel_;
  Field even_, odd_;
  std::array<Field, 3> left_;
  std::array<Drive, 2> drives_;
};

}  // namespace sonde::neoclassical
