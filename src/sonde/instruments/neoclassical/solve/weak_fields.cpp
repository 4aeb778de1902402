// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/weak_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/solve/matrix_arena.h"

namespace sonde::neoclassical {
namespace {

using Field = std::vector<double>;

/// The entries of a matrix that are not zero.
SparseRows sparse(const Field& a, Index rows, Index columns) {
  SparseRows made;
  made.first.push_back(0);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j)
      if (const double value = a[static_cast<std::size_t>(i * columns + j)]; value != 0) {
        made.column.push_back(j);
        made.value.push_back(value);
      }
    made.first.push_back(static_cast<Index>(made.value.size()));
  }
  return made;
}

double dot(const double* a, const double* b, Index count) {
  const auto size = static_cast<std::size_t>(count);
  return neoclassical::dot(std::span(a, size), std::span(b, size));
}

}  // namespace

WeakFields::WeakFields(const DriftKinetic& equation, const ParityBasis& basis, const ParityBlocks& blocks,
                       BlockStep step)
    : equation_(equation),
      basis_(basis),
      blocks_(blocks),
      step_(std::move(step)),
      even_odd_(sparse(blocks.streaming_even_odd, blocks.even, blocks.odd)),
      odd_even_(sparse(blocks.streaming_odd_even, blocks.odd, blocks.even)),
      size_(blocks.even),
      block_(static_cast<std::size_t>(size_ * size_)),
      solution_(block_.size()),
      inverses_(static_cast<std::size_t>(size_ * dense::inverse_columns(size_))),
      scratch_(inverses_.size()),
      even_(static_cast<std::size_t>(blocks.even)),
      odd_(static_cast<std::size_t>(blocks.odd)) {
  const auto n = static_cast<std::size_t>(basis.points());
  for (auto* fields : {&radial_, &parallel_})
    for (Field& each : *fields) each.resize(n);
  for (Field& each : left_) each.resize(n);
}

std::size_t WeakFields::bytes(Index points, Index n_xi) {
  const Index size = (points + 1) / 2, levels = n_xi + 1;
  const Index factors = levels * size * (size + 1), vectors = 2 * (most_vectors + 3) * levels * size;
  return static_cast<std::size_t>(factors + vectors + 3 * size * size + 2 * lowest * most_vectors * size) *
         sizeof(double);
}

Parity WeakFields::parity(Class which, Index k) const {
  return which == Class::driven ? driven_parity(k) : other(driven_parity(k));
}

dense::Matrix<double> WeakFields::factor(Class which, Index k) {
  const Index apart = size_ + 1, n = count(which, k);
  double* const all = factors_.data() + k * size_ * apart;
  dense::Matrix<double> made(which == Class::driven ? all : all + 1, n, n);
  made.stride[which == Class::driven ? 0 : 1] = apart;
  made.stride[which == Class::driven ? 1 : 0] = 1;
  return made;
}

void WeakFields::begin(double nu_hat, Index n_xi) {
  if (levels_ == n_xi + 1 && nu_hat_ == nu_hat) return;
  levels_ = n_xi + 1;
  nu_hat_ = 0;  // until all is there: a step may end the work
  made_ = 0;
  const auto resized = [](Field& field, Index elements) {
    if (field.size() < static_cast<std::size_t>(elements)) field.resize(static_cast<std::size_t>(elements));
  };
  resized(factors_, levels_ * size_ * (size_ + 1));
  for (auto* fields : {&work_, &first_})
    for (Field& each : *fields) resized(each, levels_ * size_);
  for (Drive& drive : drives_) {
    resized(drive.vectors, (most_vectors + 1) * levels_ * size_);
    resized(drive.solved, most_vectors * lowest * size_);
    for (Field* field : {&drive.hessenberg, &drive.rotated}) resized(*field, most_vectors * (most_vectors + 1));
    for (Field* field : {&drive.right, &drive.weights}) resized(*field, most_vectors + 1);
  }
  factorised_ = factorise(Class::driven, nu_hat) && factorise(Class::other, nu_hat);
  start(equation_.radial, drives_[0]);
  start(equation_.parallel, drives_[1]);
  nu_hat_ = nu_hat;
}

bool WeakFields::factorise(Class which, double nu_hat) {
  const auto shape = [](Field& storage, Index rows, Index columns) {
    return dense::Matrix<double>(storage.data(), rows, columns);
  };
  const auto collisions = [&](Index k) { return DriftKinetic::collisions(nu_hat, k); };
  const Index top = levels_ - 1;
  set_diagonal(shape(block_, count(which, top), count(which, top)), collisions(top));
  for (Index k = top; k >= 0; --k) {
    step_();
    const Index n = count(which, k);
    const dense::Matrix<double> block = shape(block_, n, n);
    const dense::Cholesky<double> made{block, shape(inverses_, n, dense::inverse_columns(n))};
    if (!dense::factorise(made, std::span(scratch_))) return false;
    const dense::Matrix<double> kept = factor(which, k);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) kept(i, j) = block(i, j);
    if (k == 0) break;
    const Index below = count(which, k - 1);
    const dense::Matrix<double> y = shape(solution_, n, below), next = shape(block_, below, below);
    fill_streaming(blocks_, equation_.lower(k), parity(which, k), y);
    dense::solve_lower(made, y, std::span(scratch_));
    dense::multiply_symmetric(1, y, dense::Form::transposed, 0, next);
    add_to_diagonal(next, collisions(k - 1));
    if (k == 1 && parity(which, 0) == Parity::even) pin<double>(next, blocks_.null_vector);
  }
  return true;
}

void WeakFields::start(const DriftKinetic::Drive& source, Drive& drive) {
  double* const first = vector(drive, 0);
  std::fill_n(first, levels_ * size_, 0.0);
  drive.largest = 0;
  for (Index k = 0; k < 3; ++k) {
    const Field& on_grid = source[static_cast<std::size_t>(k)];
    drive.largest = std::max(drive.largest, largest(on_grid));
    basis_.split(on_grid, even_, odd_);
    const Field& part = driven_parity(k) == Parity::even ? even_ : odd_;
    std::copy(part.begin(), part.end(), first + k * size_);
  }
  drive.length = std::sqrt(dot(first, first, levels_ * size_));
  if (drive.length > 0)
    for (Index i = 0; i < levels_ * size_; ++i) first[i] /= drive.length;
}

/// y += scale times what L takes from the functions of index `from` to those of `to`, its neighbour: L_to where `to` is
/// the upper one, else the transpose of L_from.
void WeakFields::add_streaming(Class which, Index to, Index from, double scale, std::span<const double> x,
                               std::span<double> y) const {
  const auto [a, b] = equation_.lower(std::max(to, from));
  const bool even_rows = parity(which, to) == Parity::even;
  // A is antisymmetric, g is not.
  (even_rows ? even_odd_ : odd_even_).add_product(to > from ? scale * a : -scale * a, x, y);
  const double shift = scale * a * b;
  for (std::size_t i = 0; i < blocks_.mirror.size(); ++i)
    y[even_rows ? i + 1 : i] += shift * blocks_.mirror[i] * x[even_rows ? i : i + 1];
}

/// work = A^-1 work for both drives, at each index while its factor is near.
void WeakFields::invert(Class which) {
  const auto row = [&](Field& field, Index k) {
    return std::span(field.data() + k * size_, static_cast<std::size_t>(count(which, k)));
  };
  const auto both_ways = [&](Index k, std::span<double> x) {
    dense::solve_triangular(factor(which, k), dense::Form::plain, x);
    dense::solve_triangular(factor(which, k), dense::Form::transposed, x);
  };
  for (Index k = levels_ - 1; k >= 0; --k)
    for (Field& work : work_) {
      if (k + 1 < levels_) add_streaming(which, k, k + 1, 1, row(work, k + 1), row(work, k));  // -U_k
      both_ways(k, row(work, k));
    }
  for (Index k = 1; k < levels_; ++k)
    for (Field& work : work_) {
      const std::span<double> change = std::span(scratch_).first(row(work, k).size());
      std::fill(change.begin(), change.end(), 0.0);
      add_streaming(which, k, k - 1, -1, row(work, k - 1), change);
      both_ways(k, change);
      const std::span<double> made = row(work, k);
      for (std::size_t i = 0; i < made.size(); ++i) made[i] += change[i];
    }
}

/// rest -= A x.
void WeakFields::subtract_product(Class which, const Field& x, Field& rest) const {
  const auto n = [&](Index k) { return static_cast<std::size_t>(count(which, k)); };
  for (Index k = 0; k < levels_; ++k) {
    const std::span<double> row(rest.data() + k * size_, n(k));
    const double own = DriftKinetic::collisions(nu_hat_, k);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= own * x[static_cast<std::size_t>(k * size_) + i];
    if (k > 0) add_streaming(which, k, k - 1, -1, std::span(x.data() + (k - 1) * size_, n(k - 1)), row);
    if (k + 1 < levels_) add_streaming(which, k, k + 1, 1, std::span(x.data() + (k + 1) * size_, n(k + 1)), row);
  }
}

/// y = X x: all indices of the same parity in one product.
void WeakFields::cross(Class from, const double* x, double* y) {
  for (Index first = 0; first < 2; ++first) {
    const bool from_odd = parity(from, first) == Parity::odd;
    const Index in = from_odd ? blocks_.odd : blocks_.even, out = from_odd ? blocks_.even : blocks_.odd;
    const std::vector<double>& drift = from_odd ? blocks_.drift_even_odd : blocks_.drift_odd_even;
    const Index rows = (levels_ - first + 1) / 2;
    dense::ConstMatrix<double> a(x + first * size_, rows, in);
    dense::Matrix<double> b(y + first * size_, rows, out);
    a.stride[0] = b.stride[0] = 2 * size_;
    for (Index k = first; k < levels_; k += 2) y[k * size_ + size_ - 1] = 0;  // odd functions are one less
    dense::multiply(1, a, dense::Form::plain, dense::ConstMatrix<double>(drift.data(), out, in),
                    dense::Form::transposed, 0, b);
  }
}

/// One vector more for both drives.
void WeakFields::extend() {
  const Index j = made_++, count = levels_ * size_;
  const Class here = j % 2 == 0 ? Class::driven : Class::other;
  for (std::size_t d = 0; d < 2; ++d) std::copy_n(vector(drives_[d], j), count, work_[d].data());
  invert(here);
  if (nu_hat_ < rare * equation_.largest_row) {
    for (std::size_t d = 0; d < 2; ++d) {
      std::copy_n(work_[d].data(), count, first_[d].data());
      std::copy_n(vector(drives_[d], j), count, work_[d].data());
      subtract_product(here, first_[d], work_[d]);
    }
    invert(here);
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) work_[d][i] += first_[d][i];
  }
  for (std::size_t d = 0; d < 2; ++d) {
    Drive& drive = drives_[d];
    std::copy_n(work_[d].data(), lowest * size_, drive.solved.data() + j * lowest * size_);
    double* const next = vector(drive, j + 1);
    cross(here, work_[d].data(), next);
    double* const column = drive.hessenberg.data() + j * (most_vectors + 1);
    std::fill_n(column, most_vectors + 1, 0.0);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough for orthogonality to the last bits
      for (Index i = (j + 1) % 2; i <= j; i += 2) {
        const double* const earlier = vector(drive, i);
        const double along = dot(earlier, next, count);
        column[i] += along;
        for (Index p = 0; p < count; ++p) next[p] -= along * earlier[p];
      }
    const double length = std::sqrt(dot(next, next, count));
    column[j + 1] = length;
    if (length > 0)
      for (Index p = 0; p < count; ++p) next[p] /= length;
  }
}

/// Takes one column more into the least-squares problem | length e_0 - (1 + E_hat H) weights | by a rotation; returns
/// what is left, to the length.
double WeakFields::minimise(Drive& drive, double epsi_hat, Index column) {
  double* const own = drive.rotated.data() + column * (most_vectors + 1);
  const double* const from = drive.hessenberg.data() + column * (most_vectors + 1);
  if (column == 0) {
    std::fill(drive.right.begin(), drive.right.end(), 0.0);
    drive.right[0] = 1;
  }
  for (Index i = 0; i <= column + 1; ++i) own[i] = epsi_hat * from[i] + (i == column ? 1 : 0);
  const auto rotate = [&](Index i, double& a, double& b) {
    const double c = drive.cosine[static_cast<std::size_t>(i)], s = drive.sine[static_cast<std::size_t>(i)];
    const double rotated = c * a + s * b;
    b = c * b - s * a;
    a = rotated;
  };
  for (Index i = 0; i < column; ++i) rotate(i, own[i], own[i + 1]);
  const double length = std::hypot(own[column], own[column + 1]);
  drive.cosine[static_cast<std::size_t>(column)] = own[column] / length;
  drive.sine[static_cast<std::size_t>(column)] = own[column + 1] / length;
  rotate(column, own[column], own[column + 1]);
  const auto at = static_cast<std::size_t>(column);
  rotate(column, drive.right[at], drive.right[at + 1]);
  return std::abs(drive.right[at + 1]);
}

/// The lowest Legendre indices of the solution with so many vectors, on the grid.
void WeakFields::combine(Drive& drive, Index vectors, std::array<Field, lowest>& solution) {
  for (Index i = vectors - 1; i >= 0; --i) {
    double sum = drive.right[static_cast<std::size_t>(i)];
    for (Index j = i + 1; j < vectors; ++j)
      sum -= drive.rotated[static_cast<std::size_t>(j * (most_vectors + 1) + i)] *
             drive.weights[static_cast<std::size_t>(j)];
    drive.weights[static_cast<std::size_t>(i)] =
        sum / drive.rotated[static_cast<std::size_t>(i * (most_vectors + 1) + i)];
  }
  for (Index k = 0; k < std::min(lowest, levels_); ++k) {
    std::fill(even_.begin(), even_.end(), 0.0);
    std::fill(odd_.begin(), odd_.end(), 0.0);
    for (Index j = 0; j < vectors; ++j) {
      const double weight = drive.length * drive.weights[static_cast<std::size_t>(j)];
      const double* const from = drive.solved.data() + (j * lowest + k) * size_;
      Field& to = parity(j % 2 == 0 ? Class::driven : Class::other, k) == Parity::even ? even_ : odd_;
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * from[i];
    }
    basis_.join(even_, odd_, solution[static_cast<std::size_t>(k)]);
  }
}

/// What is left of the rows k = 0, 1, 2: the largest entry.
double WeakFields::rest(const Case& at, const DriftKinetic::Drive& source, const std::array<Field, lowest>& u) {
  double found = 0;
  for (Index k = 0; k < 3; ++k) {
    const auto i = static_cast<std::size_t>(k);
    Field& left = left_[i];
    left = source[i];
    equation_.add_diagonal(k, at, -1, u[i], left);
    if (k > 0) equation_.add_lower(k, -1, u[i - 1], left);
    if (k + 1 < levels_) equation_.add_upper(k, -1, u[i + 1], left);
    found = std::max(found, largest(left));
  }
  return found;
}

bool WeakFields::suits(const DriftKinetic& equation, const Case& at) {
  const double streaming = equation.largest_row, field = std::abs(at.epsi_hat) * equation.largest_drift_row;
  return at.nu_hat > 2e-7 * streaming && field <= 0.25 * std::sqrt(streaming * at.nu_hat) &&
         field <= 1.5e-3 * streaming * streaming / at.nu_hat;
}

Index WeakFields::solve(const Case& at, Index n_xi, std::array<Field, 3>& radial, std::array<Field, 3>& parallel,
                        std::array<double, 2>& residual) {
  begin(at.nu_hat, n_xi);
  if (!factorised_) return 0;
  Index vectors = 0;
  do {
    if (vectors == most_vectors) return 0;
    if (vectors == made_) extend();
    for (std::size_t d = 0; d < 2; ++d) residual[d] = minimise(drives_[d], at.epsi_hat, vectors);
    ++vectors;
    // Measured on three surfaces: those that end within most_vectors are below this by now.
    if (vectors == 8 && std::max(residual[0], residual[1]) > 1e-2) return 0;
  } while (residual[0] > enough || residual[1] > enough);
  for (std::size_t d = 0; d < 2; ++d) {
    Drive& drive = drives_[d];
    std::array<Field, lowest>& u = d == 0 ? radial_ : parallel_;
    combine(drive, vectors, u);
    if (drive.largest > 0) {
      const double lower_rows = rest(at, d == 0 ? equation_.radial : equation_.parallel, u);
      residual[d] = std::max(residual[d] * drive.length, lower_rows) / drive.largest;
    }
    for (std::size_t k = 0; k < 3; ++k) std::copy(u[k].begin(), u[k].end(), (d == 0 ? radial : parallel)[k].begin());
  }
  return vectors;
}

}  // namespace sonde::neoclassical
