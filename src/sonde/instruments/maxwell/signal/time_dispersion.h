// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/view.h"

namespace sonde::maxwell {

/// Removes the error of the leapfrog time step from a run, whose fields are those of the exact equations in time but
/// for their frequencies: what belongs to the angular frequency w is found at wg with w dt = 2 sin(wg dt / 2) (Stork
/// 2013; Wang and Xu 2015; Koene et al. 2018). The source is taken from w to wg before the run, the record back after
/// it. Nothing else changes, since the source enters the same difference equation. The time step itself cancels.
///
/// Series are the rows of Views (series, samples) with any strides; sample n is at (n + offset) dt (sample_offset.h).
/// A series counts as 0 outside its samples: a record must have decayed at its end, or be tapered there. Spectra have
/// twice as many points as the series. Each map is linear, with its exact transpose. `out` may be `in`.
///
/// Direct sums, in parallel over frequencies and samples: about 4 n^2 multiply-adds for a source of n samples, a third
/// less for a record (16 series cost as much as one); 400 n bytes of memory.

/// out(wg) = in((2 / dt) sin(wg dt / 2)).
void disperse_source(double offset, View<const double, 2> in, View<double, 2> out);
void disperse_source_transpose(double offset, View<const double, 2> in, View<double, 2> out);

/// out(w) = in((2 / dt) asin(w dt / 2)), and 0 for w dt >= 2, which no leapfrog record contains.
void correct_record(double offset, View<const double, 2> in, View<double, 2> out);
void correct_record_transpose(double offset, View<const double, 2> in, View<double, 2> out);

}  // namespace sonde::maxwell
