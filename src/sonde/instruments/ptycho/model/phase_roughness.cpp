// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/phase_roughness.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

template <class Real>
double roughness(const State& state) {
  using Complex = std::complex<Real>;
  const auto object = state.object.view<Complex, 3>();
  Box view = field_of_view(state.positions);
  // Positions may have moved to the very edge.
  view.row = std::clamp<Index>(view.row, 0, object.extent[1] - 1);
  view.col = std::clamp<Index>(view.col, 0, object.extent[2] - 1);
  const Index rows = std::min(view.rows, object.extent[1] - view.row) - 1;
  const Index cols = std::min(view.cols, object.extent[2] - view.col) - 1;
  if (rows < 1 || cols < 1) return 0;
  const auto turn = [](Complex from, Complex to) {
    return static_cast<double>(std::atan2(to.imag() * from.real() - to.real() * from.imag(),
                                          to.real() * from.real() + to.imag() * from.imag()));
  };
  std::vector<double> sums(static_cast<std::size_t>(object.extent[0] * rows));
  parallel_for(object.extent[0] * rows, 8, [&](Index first, Index last, Worker&) {
    for (Index line = first; line < last; ++line) {
      const Complex* here = &object(line / rows, view.row + line % rows, view.col);
      const Complex* below = here + object.stride[1];
      double sum = 0;
      for (Index c = 0; c < cols; ++c) {
        const double down = turn(here[c], below[c]), right = turn(here[c], here[c + 1]);
        sum += std::sqrt(down * down + right * right);
      }
      sums[static_cast<std::size_t>(line)] = sum;
    }
  });
  double sum = 0;
  for (const double line : sums) sum += line;
  return sum / static_cast<double>(object.extent[0] * rows * cols);
}

}  // namespace

double phase_roughness(const State& state) {
  return state.object.dtype() == DType::c64 ? roughness<float>(state) : roughness<double>(state);
}

}  // namespace sonde::ptycho
