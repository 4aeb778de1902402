// SPDX-License-Identifier: Apache-2.0
// What is done to patterns between the file and the measurement. Patterns are (frames, rows, columns).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/view.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/read/settings.h"

namespace sonde::ptycho {

/// The type that as_counts() gives patterns of `stored`. Throws Error(bad_input) for complex ones.
[[nodiscard]] DType counted_as(DType stored);
/// Unsigned and floating patterns as they are; signed ones as f32 (up to 16 bits, exact) or f64. Throws
/// Error(bad_input) for complex ones.
[[nodiscard]] Array as_counts(Array patterns);

/// Negative counts become zero. Returns how many there were; not-a-number stays.
Index clip_negative(Array& patterns);

/// How many measured pixels hold the largest value of an integer type: more may have been counted there.
[[nodiscard]] Index saturated_pixels(const Array& patterns, std::span<const std::uint8_t> good);

/// By how many pixels the zero frequency lies beside the place where its convention has it, towards larger indices. For
/// ZeroFrequency::centre.
struct OffCentre {
  Index rows = 0, cols = 0;
};

/// The detector's pixels around the zero frequency: cut off, or with zeros added, to `extent`, and the zero frequency
/// then in its place. Nothing else changes: the order stays that of `zero`. Works for patterns and, with one frame, for
/// masks and probes.
[[nodiscard]] Array fit_detector(const Array& patterns, ZeroFrequency zero, Extent extent, OffCentre off = {});
/// The same for a mask, in which added pixels are 0; an empty mask means all good.
[[nodiscard]] std::vector<std::uint8_t> fit_mask(std::span<const std::uint8_t> good, Extent from, ZeroFrequency zero,
                                                 Extent extent, OffCentre off = {});

/// sum(pixel) += the counts of every pattern but those whose number, counted from `first`, is in `skip` (ascending).
void add_patterns(const Array& patterns, Index first, std::span<const Index> skip, std::span<double> sum);

/// Where the counts of `sum`, (rows, columns) over all frames, gather: true when that is nearer to the other convention
/// than to `zero`. The mean direction of counts on the circle that each axis is (index / size as an angle) decides.
[[nodiscard]] bool zero_frequency_doubtful(std::span<const double> sum, Extent extent,
                                           std::span<const std::uint8_t> good, ZeroFrequency zero);

/// Whether the scan's axes seem to come last: the totals of `frames` vary as the pixels of a pattern should, while
/// `sum`, the patterns added up, is flat as the totals of a scan should be. Variation is n sum x^2 / (sum x)^2, 1 for a
/// constant.
[[nodiscard]] bool axes_doubtful(std::span<const double> sum, std::span<const std::uint8_t> good,
                                 std::span<const CountSums> frames);

struct BrightDisk {
  double radius = 0;  ///< rad: of a circle with the area of the pixels above half of the level of a flat disk
  Point centre;       ///< of these pixels, from the zero frequency
};
/// The bright disk in a mean pattern (rows, columns), zero frequency at [0,0]. Nothing below a radius of three pixels,
/// which gives no size.
[[nodiscard]] std::optional<BrightDisk> bright_disk(View<const double, 2> mean, const Sampling& sampling);

/// Pixels (row, column) of a mean pattern as above that are lit by themselves: twenty times as bright as the third
/// brightest of the eight around them, which at the rim of a disk is lit, and as a fiftieth of the level of the bright
/// disk, beside which noise does not reach that.
[[nodiscard]] std::vector<std::array<Index, 2>> hot_pixels(View<const double, 2> mean);

}  // namespace sonde::ptycho
