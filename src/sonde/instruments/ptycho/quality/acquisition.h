// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// What a measurement offers a reconstruction: dose, overlap, sampling. Lengths in A, without a calibration in object
/// pixels. Counts are electrons or photons; 0 where it is not known how many of them a value stands for.
struct Acquisition {
  double counts_per_frame = 0;  ///< mean
  double counts_per_pixel = 0;  ///< the same per measured detector pixel
  double dose = 0;              ///< all counts over the scanned area: bounding box of the positions and a step
  double step = 0;              ///< median distance of neighbours along the longer step of the scan
  double probe_diameter = 0;    ///< of the circle with 99 % of the probe's power
  double overlap = 0;           ///< linear: 1 - step / diameter
  double pixel = 0;             ///< of the object, the larger side
  double finest = 0;            ///< 1 / (2 k_max) with k_max the largest measured frequency: lambda / (2 alpha_max)
  double redundancy = 0;        ///< measured numbers per unknown real number of the object under the probe

  /// {"counts_per_frame": ..., ...}: every member by its name, null where counts are not known.
  [[nodiscard]] Value to_value() const;
  /// The same back; nothing when it is no object or lacks a member.
  [[nodiscard]] static std::optional<Acquisition> from_value(const Value& value);
};

/// `counts_per_unit`: how many counts a value of 1 stands for; 0: not known.
[[nodiscard]] Acquisition acquisition_of(const State& state, const Measurement& measurement, const Sampling& sampling,
                                         double counts_per_unit = 1);

}  // namespace sonde::ptycho
