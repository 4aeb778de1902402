// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/parity.h"

#include <numbers>
#include <type_traits>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

constexpr double half_root = std::numbers::sqrt2 / 2;

/// Where a grid point stands in the basis, with its share in the even and in the odd function.
struct Place {
  Index even = 0, odd = -1;
  double share_even = 1, share_odd = 0;
};

std::vector<Place> places(const ParityBasis& basis) {
  std::vector<Place> made(static_cast<std::size_t>(basis.points()));
  for (Index i = 0; i < basis.odd(); ++i) {
    const auto [point, image] = basis.pairs()[static_cast<std::size_t>(i)];
    made[static_cast<std::size_t>(point)] = {1 + i, i, half_root, half_root};
    made[static_cast<std::size_t>(image)] = {1 + i, i, half_root, -half_root};
  }
  return made;
}

/// P_even^T A P_odd.
std::vector<double> even_odd(const SparseRows& a, const ParityBasis& basis) {
  const std::vector<Place> at = places(basis);
  std::vector<double> made(static_cast<std::size_t>(basis.even() * basis.odd()));
  for (std::size_t row = 0; row < at.size(); ++row)
    for (auto entry = static_cast<std::size_t>(a.first[row]); entry < static_cast<std::size_t>(a.first[row + 1]);
         ++entry) {
      const Place& to = at[row];
      const Place& from = at[static_cast<std::size_t>(a.column[entry])];
      if (from.odd >= 0)
        made[static_cast<std::size_t>(to.even * basis.odd() + from.odd)] +=
            to.share_even * a.value[entry] * from.share_odd;
    }
  return made;
}

std::vector<double> negative_transpose(const std::vector<double>& a, Index rows, Index columns) {
  std::vector<double> made(a.size());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      made[static_cast<std::size_t>(j * rows + i)] = -a[static_cast<std::size_t>(i * columns + j)];
  return made;
}

/// Sums are of double, of long double when that is asked for.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, long double>, long double, double>;

template <class T>
void split_into(const std::vector<ParityBasis::Pair>& pairs, std::span<const double> on_grid, std::span<T> even_part,
                std::span<T> odd_part) {
  even_part[0] = static_cast<T>(on_grid[0]);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SumOf<T> a = on_grid[static_cast<std::size_t>(pairs[i].point)];
    const SumOf<T> b = on_grid[static_cast<std::size_t>(pairs[i].image)];
    even_part[1 + i] = static_cast<T>(half_root * (a + b));
    odd_part[i] = static_cast<T>(half_root * (a - b));
  }
}

template <class T>
void join_from(const std::vector<ParityBasis::Pair>& pairs, std::span<const T> even_part, std::span<const T> odd_part,
               std::span<SumOf<T>> on_grid) {
  on_grid[0] = static_cast<SumOf<T>>(even_part[0]);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto even = static_cast<SumOf<T>>(even_part[1 + i]), odd = static_cast<SumOf<T>>(odd_part[i]);
    on_grid[static_cast<std::size_t>(pairs[i].point)] = half_root * (even + odd);
    on_grid[static_cast<std::size_t>(pairs[i].image)] = half_root * (even - odd);
  }
}

}  // namespace

ParityBasis::ParityBasis(const AngleGrid& grid) {
  for (Index point = 0; point < grid.count(); ++point)
    if (point < grid.image(point)) pairs_.push_back({point, grid.image(point)});
}

void ParityBasis::split(std::span<const double> on_grid, std::span<double> even_part,
                        std::span<double> odd_part) const {
  split_into(pairs_, on_grid, even_part, odd_part);
}

void ParityBasis::split(std::span<const double> on_grid, std::span<float> even_part, std::span<float> odd_part) const {
  split_into(pairs_, on_grid, even_part, odd_part);
}

void ParityBasis::split(std::span<const double> on_grid, std::span<long double> even_part,
                        std::span<long double> odd_part) const {
  split_into(pairs_, on_grid, even_part, odd_part);
}

void ParityBasis::join(std::span<const double> even_part, std::span<const double> odd_part,
                       std::span<double> on_grid) const {
  join_from(pairs_, even_part, odd_part, on_grid);
}

void ParityBasis::join(std::span<const float> even_part, std::span<const float> odd_part,
                       std::span<double> on_grid) const {
  join_from(pairs_, even_part, odd_part, on_grid);
}

void ParityBasis::join(std::span<const long double> even_part, std::span<const long double> odd_part,
                       std::span<long double> on_grid) const {
  join_from(pairs_, even_part, odd_part, on_grid);
}

template <class T>
void fill_streaming(const ParityBlocks& blocks, DriftKinetic::Factors factors, Parity rows, View<T, 2> to) {
  const double* from = (rows == Parity::even ? blocks.streaming_even_odd : blocks.streaming_odd_even).data();
  const Index columns = to.extent[1];
  for (Index i = 0; i < to.extent[0]; ++i) {
    T* row = to.data + i * to.stride[0];
    for (Index j = 0; j < columns; ++j) row[j] = static_cast<T>(factors.scale * from[i * columns + j]);
  }
  for (Index i = 0; i < blocks.odd; ++i) {
    T& entry = rows == Parity::even ? to(i + 1, i) : to(i, i + 1);
    entry += static_cast<T>(factors.scale * factors.shift * blocks.mirror[static_cast<std::size_t>(i)]);
  }
}

template void fill_streaming(const ParityBlocks&, DriftKinetic::Factors, Parity, View<float, 2>);
template void fill_streaming(const ParityBlocks&, DriftKinetic::Factors, Parity, View<double, 2>);

ParityBlocks parity_blocks(const DriftKinetic& equation, const ParityBasis& basis) {
  if (equation.discretisation != Discretisation::skew || !equation.symmetric)
    throw Error(ErrorKind::internal, "parity is of symmetric surfaces and the skew operator");
  ParityBlocks made;
  made.even = basis.even();
  made.odd = basis.odd();
  made.streaming_even_odd = even_odd(equation.streaming, basis);
  made.streaming_odd_even = negative_transpose(made.streaming_even_odd, made.even, made.odd);
  for (const auto& pair : basis.pairs()) {  // g is odd
    const double a = equation.mirror[static_cast<std::size_t>(pair.point)];
    const double b = equation.mirror[static_cast<std::size_t>(pair.image)];
    made.mirror.push_back((a - b) / 2);
  }
  // X v = w is odd and v is even: of the projection only +v w^T is left here.
  std::vector<double> odd_part(static_cast<std::size_t>(made.odd)), even_part(static_cast<std::size_t>(made.even));
  made.null_vector.resize(static_cast<std::size_t>(made.even));
  basis.split(equation.null_vector, made.null_vector, odd_part);
  for (std::size_t i = 0; i < equation.undamped.size(); ++i) {
    basis.split(equation.undamped[i], even_part, odd_part);
    const bool cosine = i < equation.undamped.size() / 2;
    (cosine ? made.undamped_even : made.undamped_odd).push_back(cosine ? even_part : odd_part);
  }
  basis.split(equation.drift_of_null, even_part, odd_part);
  made.drift_even_odd = even_odd(equation.drift, basis);
  for (std::size_t i = 0; i < made.null_vector.size(); ++i)
    for (std::size_t j = 0; j < odd_part.size(); ++j)
      made.drift_even_odd[i * odd_part.size() + j] += made.null_vector[i] * odd_part[j];
  made.drift_odd_even = negative_transpose(made.drift_even_odd, made.even, made.odd);
  return made;
}

}  // namespace sonde::neoclassical
