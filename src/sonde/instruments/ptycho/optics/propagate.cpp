// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/propagate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {

double band_limit(const Sampling& sampling) {
  return std::min(static_cast<double>(sampling.rows) * sampling.dk_row,
                  static_cast<double>(sampling.cols) * sampling.dk_col) /
         3;
}

Array propagator(const Sampling& sampling, const Propagation& propagation) {
  require_calibrated(sampling, "propagation between slices");
  using std::numbers::pi;
  for (const double tilt : {propagation.tilt_row, propagation.tilt_col})
    if (!(std::abs(tilt) < pi / 2)) throw Error(ErrorKind::bad_input, fmt::format("a tilt of {} rad", tilt));
  if (!std::isfinite(propagation.distance))
    throw Error(ErrorKind::bad_input, fmt::format("a propagation by {} A", propagation.distance));

  const double down = std::tan(propagation.tilt_row), across = std::tan(propagation.tilt_col);
  // A frequency on the limit passes: the margin is that of rounding.
  const double limit = band_limit(sampling) * (1 + 1e-12);
  Array result(Device::cpu(), {sampling.rows, sampling.cols}, DType::c128);
  const View<complex128, 2> h = result.view<complex128, 2>();
  for (Index row = 0; row < sampling.rows; ++row) {
    const double ky = frequency(row, sampling.rows) / sampling.pixel_row();
    for (Index col = 0; col < sampling.cols; ++col) {
      const double kx = frequency(col, sampling.cols) / sampling.pixel_col();
      const double phase =
          -pi * propagation.distance * (sampling.wavelength * (kx * kx + ky * ky) + 2 * (kx * across + ky * down));
      const bool passes = !propagation.band_limit || std::hypot(ky, kx) <= limit;
      h(row, col) = passes ? std::polar(1.0, phase) : complex128(0);
    }
  }
  return result;
}

Array slice_propagators(const Sampling& sampling, std::span<const double> spacings, Propagation how) {
  if (spacings.empty()) return {};
  const auto count = static_cast<Index>(spacings.size());
  Array all(Device::cpu(), {count, sampling.rows, sampling.cols}, DType::c128);
  for (Index slice = 0; slice < count; ++slice) {
    how.distance = spacings[static_cast<std::size_t>(slice)];
    const Array h = propagator(sampling, how);
    std::copy_n(static_cast<const complex128*>(h.data()), h.count(), all.view<complex128, 3>()[slice].data);
  }
  return all;
}

}  // namespace sonde::ptycho
