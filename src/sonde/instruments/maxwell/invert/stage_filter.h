// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "sonde/instruments/maxwell/invert/trace_filter.h"

namespace sonde::maxwell {

/// Frequencies that a stage of an inversion sees, Hz.
struct Band {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();

  friend bool operator==(const Band&, const Band&) = default;
};
/// Throws Error(bad_input) unless 0 <= low < high.
void require_valid(const Band& band);

/// The filter of a stage, from low to high frequencies in one inversion (Bunks et al. 1995, Geophysics 60, 1457; Meles
/// et al. 2011, J. Appl. Geophys. 73, 174). The amplitude response of a Butterworth filter of order 4 that is passed
/// forwards and backwards, so that no phase is added:
///   1 / (1 + (f / high)^8), and (f / low)^8 / (1 + (f / low)^8),
/// one half at the limits of the band. Its own transpose. It is for the records, measured and computed, or for the
/// source and the measured records.
[[nodiscard]] TraceFilter stage_filter(const Band& band, double dt, Index samples);

}  // namespace sonde::maxwell
