// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A ring that a powder of a substance has.
struct Line {
  double length = 0;    ///< 1/d, 1/A
  double strength = 0;  ///< relative: multiplicity times |F|^2, or the multiplicity where |F| is not known
  std::string name{};   ///< "111"
};

/// The lines of a substance, the shortest first: of a CIF file from its structure factors up to `k_max`, in 1/A, and of
/// a list of spacings, one "D # (h, k, l) MULTIPLICITY" in A to a line, as pyFAI's calibrants have it. Throws
/// Error(bad_file) for what is neither, and for a list with a spacing that is not above zero.
[[nodiscard]] std::vector<Line> read_lines(const std::string& path, double k_max);

/// A peak of a radial profile.
struct RingPeak {
  double radius = 0;  ///< px
  double error = 0;   ///< px, from the counts of the profile
  double height = 0;  ///< above the background
  Index line = -1;    ///< the index of the line that it is; -1: of none
};

/// The background under the peaks of a profile: peaks are clipped from it, up to 12 px wide (SNIP: Ryan et al., Nucl.
/// Instrum. Methods B 34 (1988) 396).
[[nodiscard]] std::vector<double> ring_background(const std::vector<double>& profile, double width);

/// The peaks of a profile whose bins are `width` px wide from `inner` on: maxima that rise above the higher of
/// the minima beside them by five times the standard error of that, which follows from `sigma`, that of each bin. Bins
/// that are NaN have none.
[[nodiscard]] std::vector<RingPeak> find_ring_peaks(const std::vector<double>& profile,
                                                    const std::vector<double>& sigma, double inner, double width);

/// The size of a pixel that puts the peaks on the lines.
struct RingScale {
  double q_pixel = 0;         ///< 1/A
  double standard_error = 0;  ///< from the scatter of the rings about their lines
  Index matched = 0;          ///< peaks on lines
  double missing = 0;         ///< share of the strength of lines in reach that have no peak
  std::string refused{};      ///< why the value is not to be used; empty where it is
};

/// Takes each of the strongest peaks for each line in turn, counts what else fits, and refines the best size by least
/// squares; peaks on lines get their indices. Refused where fewer than three peaks are on lines, where strong lines
/// have no peak, and where a size that differs by more than 1 % fits nearly as well. `inner` and `outer` are the ends
/// of the profile, px.
[[nodiscard]] RingScale fit_ring_scale(std::vector<RingPeak>& peaks, const std::vector<Line>& lines, double inner,
                                       double outer);

}  // namespace sonde::stem
