// SPDX-License-Identifier: Apache-2.0
// Private to the room: the drift-kinetic equation of one surface on a device, in the functions that a path works in.
#pragma once

#include <array>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/neoclassical/batch/batch_memory.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// The functions that the sources drive at a Legendre index, and those that E_hat couples to them (parity.h).
enum class Functions { driven, others };

/// What is known of every case, one number of each: (problem, 1, 1).
struct BatchCases {
  dense::Batch nu_hat, epsi_hat;
};

/// A function of k = 0, 1, 2 of every problem for both drives is one batch, (problem, row, drive): driven ones of
/// k = 0, its others, driven ones of k = 1, and so on. Along `quasidefinite` the rows are even and odd functions; along
/// `spd` there are no others, and the driven ones are even or odd, or the whole grid without stellarator symmetry.
class BatchShape {
 public:
  static constexpr Index drives = 2;

  BatchShape(const Plan& plan, Path path);

  [[nodiscard]] Index count(Index k, Functions which) const;
  /// Of the largest block.
  [[nodiscard]] Index largest() const { return parity_ ? even_ : points_; }
  [[nodiscard]] Index rows() const { return first_row(3, Functions::driven); }
  [[nodiscard]] Index first_row(Index k, Functions which) const;
  /// Whether these are even functions. Without parity all are taken for even ones.
  [[nodiscard]] bool even(Index k, Functions which) const;
  [[nodiscard]] bool parity() const { return parity_; }
  [[nodiscard]] bool has_others() const { return has_others_; }
  template <class T>
  [[nodiscard]] View<T, 3> part(View<T, 3> function, Index k, Functions which) const {
    return dense::part(function, first_row(k, which), count(k, which), 0, drives);
  }

 private:
  bool parity_, has_others_;
  Index points_, even_ = 0, odd_ = 0;
};

class BatchOperators {
 public:
  /// Copies all that is shared to the device.
  BatchOperators(const Plan& plan, Path path, dense::BatchedAlgebra& algebra);
  /// What that takes.
  [[nodiscard]] static std::size_t bytes(const Plan& plan, Path path);

  [[nodiscard]] const BatchShape& shape() const { return shape_; }
  [[nodiscard]] dense::BatchedAlgebra& algebra() const { return algebra_; }

  /// to = L_k of these functions, of every problem.
  void fill_lower(Index k, Functions which, dense::Batch to) const;
  /// to = E_hat X from the others to the driven functions.
  void fill_drift(Index k, const BatchCases& at, dense::Batch to) const;
  /// to += (nu_hat / 2) k (k + 1).
  void add_collisions(Index k, const BatchCases& at, dense::Batch to) const;
  /// Takes the null vector out of these functions' block of Delta_0, where they have it: it is even, so that with
  /// parity it is one of the others.
  void pin(Functions which, dense::Batch to) const;

  /// y += sign L_k x and y += sign L_k^T x, k = 1, 2, both drives of all functions.
  void add_lower(Index k, double sign, dense::ConstBatch x, dense::Batch y) const;
  void add_lower_transposed(Index k, double sign, dense::ConstBatch x, dense::Batch y) const;
  /// y -= D_k x; `work` is a function of the same layout.
  void subtract_diagonal(Index k, const BatchCases& at, dense::ConstBatch x, dense::Batch work, dense::Batch y) const;

  /// (row, drive), for all problems.
  [[nodiscard]] dense::ConstBatch sources(Index problems) const;
  /// to(p, 2 w + d) = weights of D_w. times the function of drive d.
  void weigh(dense::ConstBatch function, dense::Batch to) const;
  /// to(p, 0, d) = the largest magnitude of the function of drive d on the grid, k = 0, 1, 2.
  void largest_on_grid(dense::ConstBatch function, dense::Batch to) const;

 private:
  [[nodiscard]] Array& lower_of(Index k, Functions which);
  [[nodiscard]] const Array& lower_of(Index k, Functions which) const;
  [[nodiscard]] dense::ConstBatch drift(Index k, Index problems) const;
  [[nodiscard]] Array there(const std::vector<double>& elements, Index rows, Index columns) const;
  [[nodiscard]] Array rows_of(const DriftKinetic::Drive& radial, const DriftKinetic::Drive& parallel) const;

  const DriftKinetic& equation_;
  const ParityBasis* basis_;
  BatchShape shape_;
  dense::BatchedAlgebra& algebra_;
  Array streaming_even_, streaming_odd_;  // to even functions and to odd ones; the first: of the whole grid
  Array drift_even_, drift_odd_;
  Array mirror_, null_vector_;
  Array sources_, weights_;
  std::array<std::array<Array, 2>, 2> lower_;  // of k = 1, 2: driven, others
};

}  // namespace sonde::neoclassical
