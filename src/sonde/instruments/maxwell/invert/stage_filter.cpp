// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/stage_filter.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {

void require_valid(const Band& band) {
  if (!(band.low >= 0) || !(band.low < band.high))
    throw Error(ErrorKind::bad_input, fmt::format("band {} to {} Hz; expected 0 <= low < high", band.low, band.high));
}

TraceFilter stage_filter(const Band& band, double dt, Index samples) {
  require_valid(band);
  TraceSpectrum spectrum(samples);
  std::vector<TraceFilter::Complex> response;
  for (Index k = 0; k < spectrum.frequencies(); ++k) {
    const double f = spectrum.frequency(k) / dt;
    const double pass_low = std::isinf(band.high) ? 1 : 1 / (1 + std::pow(f / band.high, 8));
    const double pass_high = band.low == 0 ? 1 : 1 - 1 / (1 + std::pow(f / band.low, 8));
    response.emplace_back(pass_low * pass_high);
  }
  return {std::move(spectrum), std::move(response)};
}

}  // namespace sonde::maxwell
