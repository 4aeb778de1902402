// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/batch_operators.h"

#include <numbers>

#include "sonde/instruments/neoclassical/batch/batch_device.h"
#include "sonde/instruments/neoclassical/operators/parity.h"

namespace sonde::neoclassical {
namespace {

using dense::Form;

/// A as a full matrix, row after row.
std::vector<double> full(const SparseRows& a) {
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<double> made(n * n);
  for (std::size_t row = 0; row < n; ++row)
    for (auto e = static_cast<std::size_t>(a.first[row]); e < static_cast<std::size_t>(a.first[row + 1]); ++e)
      made[row * n + static_cast<std::size_t>(a.column[e])] = a.value[e];
  return made;
}

dense::ConstBatch for_all(const Array& matrix, Index problems) {
  return dense::shared(matrix.view<double, 2>(), problems);
}

}  // namespace

BatchShape::BatchShape(const Plan& plan, Path path)
    : parity_(plan.blocks() != nullptr), has_others_(path == Path::quasidefinite), points_(plan.equation().points()) {
  if (!parity_) return;
  even_ = plan.blocks()->even;
  odd_ = plan.blocks()->odd;
}

bool BatchShape::even(Index k, Functions which) const {
  return !parity_ || (driven_parity(k) == Parity::even) == (which == Functions::driven);
}

Index BatchShape::count(Index k, Functions which) const {
  if (which == Functions::others && !has_others_) return 0;
  if (!parity_) return points_;
  return even(k, which) ? even_ : odd_;
}

Index BatchShape::first_row(Index k, Functions which) const {
  Index row = 0;
  for (Index above = 0; above < k; ++above) row += count(above, Functions::driven) + count(above, Functions::others);
  return which == Functions::driven ? row : row + count(k, Functions::driven);
}

BatchOperators::BatchOperators(const Plan& plan, Path path, dense::BatchedAlgebra& algebra)
    : equation_(plan.equation()), basis_(plan.basis()), shape_(plan, path), algebra_(algebra) {
  if (const ParityBlocks* const blocks = plan.blocks()) {
    streaming_even_ = there(blocks->streaming_even_odd, blocks->even, blocks->odd);
    streaming_odd_ = there(blocks->streaming_odd_even, blocks->odd, blocks->even);
    mirror_ = there(blocks->mirror, 1, blocks->odd);
    null_vector_ = there(blocks->null_vector, 1, blocks->even);
    if (shape_.has_others()) {
      drift_even_ = there(blocks->drift_even_odd, blocks->even, blocks->odd);
      drift_odd_ = there(blocks->drift_odd_even, blocks->odd, blocks->even);
    }
  } else {
    const Index points = equation_.points();
    streaming_even_ = there(full(equation_.streaming), points, points);
    mirror_ = there(equation_.mirror, 1, points);
    null_vector_ = there(equation_.null_vector, 1, points);
  }
  sources_ = rows_of(equation_.radial, equation_.parallel);
  weights_ = rows_of(equation_.radial_weights, equation_.parallel_weights);
  for (const Index k : {1, 2})
    for (const Functions which : {Functions::driven, Functions::others}) {
      Array& made = lower_of(k, which);
      made = Array(algebra.stream().device(), {shape_.count(k, which), shape_.count(k - 1, which)}, DType::f64);
      const View<double, 2> of = made.view<double, 2>();
      fill_lower(k, which, dense::Batch(of.data, 1, of.extent[0], of.extent[1]));
    }
}

std::size_t BatchOperators::bytes(const Plan& plan, Path path) {
  const auto n = static_cast<std::size_t>(plan.equation().points());
  // A, L_1 and L_2 of the grid; with parity A and X of each parity, L_1 and L_2 of one parity or both.
  const std::size_t matrices = plan.blocks() == nullptr ? 3 : path == Path::quasidefinite ? 2 : 1;
  return (matrices * n * n + 20 * n) * sizeof(double);
}

void BatchOperators::fill_lower(Index k, Functions which, dense::Batch to) const {
  if (to.count() == 0) return;
  const Index problems = to.extent[0];
  const DriftKinetic::Factors factors = equation_.lower(k);
  const bool even = shape_.even(k, which);
  // Even function 1 + i and odd function i are of one pair of points.
  const Index offset = !shape_.parity() ? 0 : even ? 1 : -1;
  algebra_.combine(factors.scale, {}, for_all(even ? streaming_even_ : streaming_odd_, problems), 0, to);
  dense::Factors mirror = mirror_.view<double, 2>();
  mirror.extent[0] = problems;
  mirror.stride[0] = 0;
  algebra_.add_to_diagonal(factors.scale * factors.shift, mirror, offset, to);
}

dense::ConstBatch BatchOperators::drift(Index k, Index problems) const {
  return for_all(driven_parity(k) == Parity::even ? drift_even_ : drift_odd_, problems);
}

void BatchOperators::fill_drift(Index k, const BatchCases& at, dense::Batch to) const {
  algebra_.combine(1, of_each(at.epsi_hat), drift(k, to.extent[0]), 0, to);
}

void BatchOperators::add_collisions(Index k, const BatchCases& at, dense::Batch to) const {
  algebra_.add_to_diagonal(DriftKinetic::collisions(1, k), of_each(at.nu_hat), 0, to);
}

void BatchOperators::pin(Functions which, dense::Batch to) const {
  if ((which == Functions::others) != shape_.parity()) return;
  device::Pin body;
  body.v = null_vector_.view<double, 2>();
  body.a = to;
  run_on(algebra_.stream(), {.blocks = to.extent[0]}, body);
}

void BatchOperators::add_lower(Index k, double sign, dense::ConstBatch x, dense::Batch y) const {
  for (const Functions which : {Functions::driven, Functions::others})
    algebra_.multiply(sign, for_all(lower_of(k, which), x.extent[0]), Form::plain, shape_.part(x, k - 1, which),
                      Form::plain, 1, shape_.part(y, k, which));
}

void BatchOperators::add_lower_transposed(Index k, double sign, dense::ConstBatch x, dense::Batch y) const {
  for (const Functions which : {Functions::driven, Functions::others})
    algebra_.multiply(sign, for_all(lower_of(k, which), x.extent[0]), Form::transposed, shape_.part(x, k, which),
                      Form::plain, 1, shape_.part(y, k - 1, which));
}

void BatchOperators::subtract_diagonal(Index k, const BatchCases& at, dense::ConstBatch x, dense::Batch work,
                                       dense::Batch y) const {
  const Index problems = x.extent[0];
  for (const Functions which : {Functions::driven, Functions::others})
    algebra_.combine(-DriftKinetic::collisions(1, k), of_each(at.nu_hat), shape_.part(x, k, which), 1,
                     shape_.part(y, k, which));
  if (!shape_.has_others()) return;
  // X is antisymmetric: what leads back is -X^T.
  const auto driven = Functions::driven, others = Functions::others;
  algebra_.multiply(-1, drift(k, problems), Form::plain, shape_.part(x, k, others), Form::plain, 0,
                    shape_.part(work, k, driven));
  algebra_.multiply(1, drift(k, problems), Form::transposed, shape_.part(x, k, driven), Form::plain, 0,
                    shape_.part(work, k, others));
  for (const Functions which : {driven, others})
    algebra_.combine(1, of_each(at.epsi_hat), shape_.part(dense::ConstBatch(work), k, which), 1,
                     shape_.part(y, k, which));
}

dense::ConstBatch BatchOperators::sources(Index problems) const { return for_all(sources_, problems); }

void BatchOperators::weigh(dense::ConstBatch function, dense::Batch to) const {
  device::Weigh body;
  body.of = function;
  body.weights = weights_.view<double, 2>();
  body.to = to;
  run_on(algebra_.stream(), {.blocks = function.extent[0]}, body);
}

void BatchOperators::largest_on_grid(dense::ConstBatch function, dense::Batch to) const {
  device::LargestOnGrid body;
  body.of = function;
  body.to = to;
  body.pairs = shape_.largest() - 1;
  body.share = shape_.parity() ? std::numbers::sqrt2 / 2 : 1;
  for (Index k = 0; k < 3; ++k)
    for (const Functions which : {Functions::driven, Functions::others})
      if (shape_.count(k, which) > 0) (shape_.even(k, which) ? body.even : body.odd)[k] = shape_.first_row(k, which);
  run_on(algebra_.stream(), {.blocks = function.extent[0] * BatchShape::drives}, body);
}

Array& BatchOperators::lower_of(Index k, Functions which) {
  return lower_[static_cast<std::size_t>(k - 1)][which == Functions::driven ? 0 : 1];
}

const Array& BatchOperators::lower_of(Index k, Functions which) const {
  return const_cast<BatchOperators*>(this)->lower_of(k, which);
}

Array BatchOperators::there(const std::vector<double>& elements, Index rows, Index columns) const {
  return Array::from(elements, {rows, columns}).copy_to(algebra_.stream().device(), algebra_.stream());
}

/// The rows of a function from the drives on the grid.
Array BatchOperators::rows_of(const DriftKinetic::Drive& radial, const DriftKinetic::Drive& parallel) const {
  constexpr Index drives = BatchShape::drives;
  std::vector<double> made(static_cast<std::size_t>(shape_.rows() * drives));
  std::vector<double> even(static_cast<std::size_t>(shape_.largest())), odd(even.size());
  for (Index drive = 0; drive < drives; ++drive)
    for (Index k = 0; k < 3; ++k) {
      const std::vector<double>& on_grid = (drive == 0 ? radial : parallel)[static_cast<std::size_t>(k)];
      if (basis_ != nullptr)
        basis_->split(on_grid, even, odd);
      else
        even = on_grid;
      for (const Functions which : {Functions::driven, Functions::others})
        for (Index i = 0; i < shape_.count(k, which); ++i)
          made[static_cast<std::size_t>((shape_.first_row(k, which) + i) * drives + drive)] =
              (shape_.even(k, which) ? even : odd)[static_cast<std::size_t>(i)];
    }
  return there(made, shape_.rows(), drives);
}

}  // namespace sonde::neoclassical
