// SPDX-License-Identifier: Apache-2.0
// The permissive choice: rows, then columns, each a one-dimensional transform.
#include <kissfft/kissfft.hh>

#include <vector>

#include "sonde/engine/math/fft_common.h"

namespace sonde {

/// Tables for rows and columns. The library's objects hold scratch, so every thread works with a copy.
template <class Real>
struct Fft2d<Real>::Plans {
  struct Direction {
    kissfft<Real> row, col;
  };
  Direction forward, inverse;

  Plans(Index rows, Index cols) : forward(direction(rows, cols, false)), inverse(direction(rows, cols, true)) {}

  static Direction direction(Index rows, Index cols, bool inverse) {
    return {kissfft<Real>(static_cast<std::size_t>(cols), inverse),
            kissfft<Real>(static_cast<std::size_t>(rows), inverse)};
  }

  static void run(Direction plan, Index rows, Index cols, Complex* data, Real scale) {
    std::vector<Complex> from(static_cast<std::size_t>(std::max(rows, cols))), to(from.size());
    for (Index row = 0; row < rows; ++row) {
      std::copy(data + row * cols, data + (row + 1) * cols, from.begin());
      plan.row.transform(from.data(), data + row * cols);
    }
    for (Index col = 0; col < cols; ++col) {
      for (Index row = 0; row < rows; ++row) from[static_cast<std::size_t>(row)] = data[row * cols + col];
      plan.col.transform(from.data(), to.data());
      for (Index row = 0; row < rows; ++row) data[row * cols + col] = scale * to[static_cast<std::size_t>(row)];
    }
  }
};

const char* fft_library() { return "kissfft"; }

template <class Real>
Fft2d<Real> Fft2d<Real>::prepare(Index batch, Index rows, Index cols, FftEffort) {
  check_fft_extents(batch, rows, cols);
  return Fft2d(batch, rows, cols, std::make_unique<Plans>(rows, cols));
}

template <class Real>
void Fft2d<Real>::forward(View<const Complex, 3> in, View<Complex, 3> out) const {
  bring(in, out);
  parallel_for(batch_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i)
      Plans::run(plans_->forward, rows_, cols_, out.data + i * rows_ * cols_, Real(1));
  });
}

template <class Real>
void Fft2d<Real>::inverse(View<const Complex, 3> in, View<Complex, 3> out) const {
  bring(in, out);
  const Real scale = Real(1) / static_cast<Real>(rows_ * cols_);
  parallel_for(batch_, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) Plans::run(plans_->inverse, rows_, cols_, out.data + i * rows_ * cols_, scale);
  });
}

template class Fft2d<float>;
template class Fft2d<double>;

}  // namespace sonde
