// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/start_modes.h"

namespace sonde::ptycho {

Array with_occupancies(const Array& probe, std::span<const double> occupancies) {
  double total = 0;
  for (const double share : occupancies) {
    if (!(share >= 0) || !std::isfinite(share))
      throw Error(ErrorKind::bad_input, fmt::format("a probe mode with a share of {} of the power", share));
    total += share;
  }
  if (!(total > 0)) throw Error(ErrorKind::bad_input, "the occupancies of the probe's modes add up to nothing");
  const auto count = static_cast<Index>(occupancies.size());
  const double counts = power(probe), even = 1 / static_cast<double>(count);
  Array modes = start_modes(probe, count, even);
  const View<complex128, 3> p = modes.view<complex128, 3>();
  for (Index mode = 0; mode < count; ++mode) {
    double now = 0;
    for (Index i = 0; i < p[mode].count(); ++i) now += std::norm(p[mode].data[i]);
    const double factor = std::sqrt(counts * occupancies[static_cast<std::size_t>(mode)] / total / now);
    for (Index i = 0; i < p[mode].count(); ++i) p[mode].data[i] *= factor;
  }
  return modes;
}

Array with_source_size(const Array& probe, const Sampling& sampling, double fwhm) {
  if (!(fwhm >= 0) || !std::isfinite(fwhm)) throw Error(ErrorKind::bad_input, fmt::format("a source of size {}", fwhm));
  if (fwhm == 0) return probe.clone();
  constexpr double node[] = {-std::numbers::sqrt3, 0, std::numbers::sqrt3};
  constexpr double weight[] = {1.0 / 6, 2.0 / 3, 1.0 / 6};
  const double rms = fwhm / std::sqrt(8 * std::numbers::ln2);
  const Index modes = probe.shape()[0], pixels = probe.shape().last(2).count();
  Array result(Device::cpu(), {9 * modes, probe.shape()[1], probe.shape()[2]}, DType::c128);
  auto* to = static_cast<complex128*>(result.data());
  for (std::size_t down = 0; down < 3; ++down)
    for (std::size_t across = 0; across < 3; ++across) {
      Array copy = probe.clone();
      shift_waves(copy, node[down] * rms / sampling.pixel_row(), node[across] * rms / sampling.pixel_col());
      const double amplitude = std::sqrt(weight[down] * weight[across]);
      to = std::transform(static_cast<const complex128*>(copy.data()),
                          static_cast<const complex128*>(copy.data()) + modes * pixels, to,
                          [&](complex128 value) { return amplitude * value; });
    }
  return result;
}

}  // namespace sonde::ptycho
