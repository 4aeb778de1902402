// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

/// What holds for the functions of this page: each changes a line in place, measured or simulated, and adds what it did
/// to its history. Sums are in float64. They throw Error(bad_input) for settings without meaning for the line.

/// Takes a second line, for instance of the antennas in free space, from the first: trace by trace where both have as
/// many, else its mean trace. Both have the same samples and, to 1e-6, the same interval.
void subtract(FieldLine& line, const FieldLine& other);

/// The time from sample 0 to the first at which the mean magnitude of all traces reaches a tenth of its largest value.
[[nodiscard]] double first_break(const FieldLine& line);
/// `zero` s after sample 0 becomes time zero: the whole samples before it are cut off, what is left of a sample stays
/// in time_zero.
void cut_to_time_zero(FieldLine& line, double zero);

/// Takes from each sample the mean of the window of this length, in s, about it; at the ends of the part of it that
/// there is (Gerlitz et al. 1993). 0: one period of the nominal frequency.
void dewow(FieldLine& line, double window);

/// Takes from each trace the mean of so many traces about it, at the ends of those that there are; 0: of all.
void remove_background(FieldLine& line, Index traces);

/// Band-limited: a sinc in a Kaiser window of 16 zeros each side. What is above 0.8 of the lower of the two Nyquist
/// frequencies is damped; a constant stays one.
void resample(FieldLine& line, double dt);

/// The field of a moment I dl in three dimensions as that of a line current of the same number in two (Bleistein 1986;
/// Ernst et al. 2007): for the time factor exp(+j w t) the spectrum times sqrt(2 pi T / (j w eps mu0)), with the mean
/// `eps_r` of the ground and T the time since time zero of each sample, or that of `arrivals` in s for each trace. In
/// the far field; the relative error is about 9 / (8 k r). The mean of a trace is lost.
void to_2d(FieldLine& line, double eps_r, std::span<const double> arrivals = {});

/// Spreading and exponential compensation: the time since time zero over the first period of the nominal frequency (1
/// ns without one), times 10^(rate t / 20) from there on; `rate` in dB/ns, the gain at most `limit` dB.
void apply_gain(FieldLine& line, double rate, double limit);

/// Which of them, in the order of this page.
struct LineProcessing {
  std::optional<double> time_zero{};  ///< s; of the record, before it is cut
  std::optional<double> dewow{};      ///< s
  std::optional<Index> background{};
  std::optional<double> dt{};  ///< s
  std::optional<double> eps_r_2d{};
  std::optional<double> gain{};  ///< dB/ns
  double gain_limit = 60;        ///< dB
};
void process(FieldLine& line, const LineProcessing& steps);

}  // namespace sonde::maxwell
