// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/constrain/phase_ramp.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

/// The middle of a view, from which ramps are counted.
struct Middle {
  double row, col;
  explicit Middle(const Box& view)
      : row(static_cast<double>(view.row) + static_cast<double>(view.rows - 1) / 2),
        col(static_cast<double>(view.col) + static_cast<double>(view.cols - 1) / 2) {}
};

template <class T>
View<const T, 2> inside(View<const T, 2> slice, const Box& view) {
  slice.data += view.row * slice.stride[0] + view.col * slice.stride[1];
  slice.extent[0] = view.rows;
  slice.extent[1] = view.cols;
  return slice;
}

double at(const PhaseRamp& ramp, double row, double col) { return ramp.per_row * row + ramp.per_col * col; }

/// The plane through phase(row, col), rows and columns from the middle. On a grid about its own middle rows, columns
/// and the constant are orthogonal, so that each slope is a sum.
template <class Phase>
PhaseRamp plane(Index rows, Index cols, const Phase& phase) {
  double row_sum = 0, col_sum = 0, row_norm = 0, col_norm = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double row = static_cast<double>(i) - static_cast<double>(rows - 1) / 2;
      const double col = static_cast<double>(j) - static_cast<double>(cols - 1) / 2;
      const double value = phase(i, j, row, col);
      row_sum += row * value;
      col_sum += col * value;
      row_norm += row * row;
      col_norm += col * col;
    }
  return {row_sum / row_norm, col_sum / col_norm};
}

template <class Real>
PhaseRamp ramp_of(View<const Real, 2> phases) {
  return plane(phases.extent[0], phases.extent[1],
               [&](Index i, Index j, double, double) { return static_cast<double>(phases(i, j)); });
}

template <class Real>
PhaseRamp ramp_of(View<const std::complex<Real>, 2> o) {
  const Index rows = o.extent[0], cols = o.extent[1];
  const auto value = [&](Index i, Index j) { return complex128(o(i, j)); };
  // From neighbours, which differ by less than half a turn whatever the ramp adds up to.
  complex128 down = 0, across = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      if (i + 1 < rows) down += std::conj(value(i, j)) * value(i + 1, j);
      if (j + 1 < cols) across += std::conj(value(i, j)) * value(i, j + 1);
    }
  PhaseRamp ramp{std::arg(down), std::arg(across)};
  constexpr int rounds = 3;  // each makes fewer phases wrap
  for (int round = 0; round < rounds; ++round) {
    complex128 mean = 0;
    const auto flat = [&](Index i, Index j, double row, double col) {
      return value(i, j) * std::polar(1.0, -at(ramp, row, col));
    };
    plane(rows, cols, [&](Index i, Index j, double row, double col) {
      mean += flat(i, j, row, col);
      return 0.0;
    });
    const PhaseRamp rest = plane(rows, cols, [&](Index i, Index j, double row, double col) {
      return std::arg(flat(i, j, row, col) * std::conj(mean));
    });
    ramp.per_row += rest.per_row;
    ramp.per_col += rest.per_col;
  }
  return ramp;
}

/// Calls body with a view (S, Y, X) of the array's type.
template <class AnyArray, class Body>
void visit(AnyArray& object, Body&& body) {
  switch (object.dtype()) {
    case DType::f32:
      return body(object.template view<float, 3>());
    case DType::f64:
      return body(object.template view<double, 3>());
    case DType::c64:
      return body(object.template view<complex64, 3>());
    case DType::c128:
      return body(object.template view<complex128, 3>());
    default:
      throw Error(ErrorKind::internal, "phase ramps are of objects in f32, f64, c64 or c128");
  }
}

}  // namespace

std::vector<PhaseRamp> phase_ramps(const Array& object, const Box& view) {
  if (view.rows < 2 || view.cols < 2)
    throw Error(ErrorKind::bad_input, fmt::format("a ramp over {} x {} pixels", view.rows, view.cols));
  std::vector<PhaseRamp> ramps;
  visit(object, [&]<class T>(View<T, 3> slices) {
    for (Index s = 0; s < slices.extent[0]; ++s) ramps.push_back(ramp_of(inside(slices[s], view)));
  });
  return ramps;
}

std::vector<PhaseRamp> remove_phase_ramps(Array& object, const Box& view) {
  const std::vector<PhaseRamp> ramps = phase_ramps(object, view);
  const Middle middle(view);
  visit(object, [&]<class T>(View<T, 3> slices) {
    const Index rows = slices.extent[1];
    parallel_for(slices.extent[0] * rows, 8, [&](Index first, Index last, Worker&) {
      for (Index line = first; line < last; ++line) {
        const PhaseRamp& ramp = ramps[static_cast<std::size_t>(line / rows)];
        T* values = &slices(line / rows, line % rows, 0);
        for (Index col = 0; col < slices.extent[2]; ++col) {
          const double phase =
              at(ramp, static_cast<double>(line % rows) - middle.row, static_cast<double>(col) - middle.col);
          if constexpr (std::is_floating_point_v<T>)
            values[col] -= static_cast<T>(phase);
          else
            values[col] *= T(std::polar(1.0, -phase));
        }
      }
    });
  });
  return ramps;
}

}  // namespace sonde::ptycho
