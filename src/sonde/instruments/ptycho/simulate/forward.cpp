// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {
namespace {

/// One plane of a (planes, rows, cols) array, as its own (1, rows, cols).
Array plane_of(const Array& planes, Index which) {
  const View<const complex128, 3> all = planes.view<complex128, 3>();
  Array plane(Device::cpu(), {1, all.extent[1], all.extent[2]}, DType::c128);
  std::copy_n(all[which].data, all[which].count(), plane.view<complex128, 3>().data);
  return plane;
}

void require_shapes(const Array& object, const Array& probe, const Array& propagators) {
  if (object.shape().rank() != 3 || probe.shape().rank() != 3)
    throw Error(ErrorKind::bad_input,
                fmt::format("an object of shape {} and a probe of shape {}: expected (slices, Y, X) and (modes, rows, "
                            "cols)",
                            object.shape().text(), probe.shape().text()));
  const Index spacings = propagators.empty() ? 0 : propagators.shape()[0];
  if (spacings != object.shape()[0] - 1 || (spacings > 0 && propagators.shape().last(2) != probe.shape().last(2)))
    throw Error(ErrorKind::bad_input, fmt::format("propagators of shape {} between {} slices for a probe of shape {}",
                                                  propagators.shape().text(), object.shape()[0], probe.shape().text()));
}

}  // namespace

Array far_field_intensity(const Array& object, const Array& probe, const Array& propagators, const Placement& at) {
  require_shapes(object, probe, propagators);
  const Window window{probe.shape()[1], probe.shape()[2]};
  const View<const complex128, 3> slices = object.view<complex128, 3>();
  require_inside(std::span(&at, 1), window, slices.extent[1], slices.extent[2]);
  Array result = Array::zeros(Device::cpu(), {window.rows, window.cols}, DType::f64);
  const View<double, 2> intensity = result.view<double, 2>();
  for (Index mode = 0; mode < probe.shape()[0]; ++mode) {
    Array wave = plane_of(probe, mode);
    const View<complex128, 2> psi = wave.view<complex128, 3>()[0];
    if (at.shift_row != 0 || at.shift_col != 0) shift_waves(wave, at.shift_row, at.shift_col);
    for (Index slice = 0; slice < slices.extent[0]; ++slice) {
      if (slice > 0) {
        const View<const complex128, 2> h = propagators.view<complex128, 3>()[slice - 1];
        fourier(wave);
        for (Index i = 0; i < psi.count(); ++i) psi.data[i] *= h.data[i];
        inverse_fourier(wave);
      }
      for (Index row = 0; row < window.rows; ++row)
        for (Index col = 0; col < window.cols; ++col) psi(row, col) *= slices(slice, at.row + row, at.col + col);
    }
    fourier(wave);
    for (Index i = 0; i < psi.count(); ++i) intensity.data[i] += std::norm(psi.data[i]);
  }
  return result;
}

Array far_field_intensities(const Array& object, const Array& probe, const Array& propagators,
                            std::span<const Placement> placements) {
  require_shapes(object, probe, propagators);
  const auto count = static_cast<Index>(placements.size());
  Array all(Device::cpu(), {count, probe.shape()[1], probe.shape()[2]}, DType::f64);
  const View<double, 3> patterns = all.view<double, 3>();
  parallel_for(count, 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const Array one = far_field_intensity(object, probe, propagators, placements[static_cast<std::size_t>(i)]);
      std::copy_n(static_cast<const double*>(one.data()), one.count(), patterns[i].data);
    }
  });
  return all;
}

}  // namespace sonde::ptycho
