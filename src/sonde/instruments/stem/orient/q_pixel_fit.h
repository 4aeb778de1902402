// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/lattice/disk_origins.h"
#include "sonde/instruments/stem/orient/kinematic.h"

namespace sonde::stem {

/// The size of a detector pixel that puts the disks of a scan on the lines of a crystal.
struct QPixelFit {
  double value = 0;           ///< 1/A
  double standard_error = 0;  ///< of the value, from the scatter between parts of the scan, or between lines
  double share = 0;           ///< of the disks that are on lines, beyond those that are by chance
  double missing = 0;         ///< share of the strength of lines in reach on which there is hardly a disk
  Index disks = 0;            ///< that were used
  std::string refused{};      ///< why the value is not to be used; empty where it is

  [[nodiscard]] std::string because() const;
};

/// Maximises over all sizes the likelihood of the distances of the disks from the direct one: each is on a line, by
/// the strength of its reflections and with an error that is fitted too, or anywhere. Then the size is the
/// least-squares one of the disks on lines. Refused where too few disks are on lines, and where another size does
/// nearly as well.
[[nodiscard]] QPixelFit fit_q_pixel(const BraggVectors& vectors, const DiskOrigins& origins, const Crystal& crystal,
                                    const KinematicBeam& beam);

}  // namespace sonde::stem
