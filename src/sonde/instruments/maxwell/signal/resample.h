// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// How series pass between the user's step dt and the step dt / ratio of a run that the stability limit demands. The
/// options have the names and meanings of deepwave (Richardson 2023) and TIDE; with ratio 1 they are not used.
struct Resampling {
  Index ratio = 1;             ///< inner steps per outer step, at least 1
  double freq_taper_frac = 0;  ///< the highest part of the outer frequencies that a cosine takes to 0, 0 to 1
  double time_pad_frac = 0;    ///< zeros after the series against wrap-around, as a part of its length, 0 to 1
  bool time_taper = false;     ///< a Hann window on the inner series
};

/// Throws Error(bad_input) for a ratio below 1 and for parts outside 0 to 1.
void require_valid(const Resampling& how);

/// What holds for the functions of this page. Series are the rows of Views (series, samples) with any strides; an outer
/// series has n samples at (i + offset) dt, an inner one n ratio samples at (m + offset) dt / ratio, with the same
/// offset (sample_offset.h). Values between samples are those of the trigonometric polynomial through them:
/// frequencies below the outer Nyquist frequency pass unchanged but for the taper, the others are 0, the Nyquist
/// frequency itself too. No phase is added. Series count as periodic over their padded length. With ratio 1 each
/// function copies. All are linear; `x_transpose` is the exact transpose of `x`. In and out have no element in common.
/// Series run in parallel; memory for each worker is about 4 padded inner series, cost is two transforms of each
/// series. Throw like require_valid().

/// Sources before a run: outer to inner.
void upsample(const Resampling& how, double offset, View<const double, 2> outer, View<double, 2> inner);
void upsample_transpose(const Resampling& how, double offset, View<const double, 2> inner, View<double, 2> outer);

/// Records after a run: inner to outer.
void downsample(const Resampling& how, double offset, View<const double, 2> inner, View<double, 2> outer);
void downsample_transpose(const Resampling& how, double offset, View<const double, 2> outer, View<double, 2> inner);

}  // namespace sonde::maxwell
