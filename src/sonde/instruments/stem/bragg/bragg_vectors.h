// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/io/contents.h"
#include "sonde/instruments/stem/bragg/bragg_calibration.h"

namespace sonde::stem {

/// The Bragg disks of every pattern of a scan, one list after another (compressed sparse rows): those of position p =
/// scan row * scan_cols + scan column are the entries [offsets[p], offsets[p + 1]), the brightest first.
struct BraggVectors {
  Index scan_rows = 0, scan_cols = 0;
  Index rows = 0, cols = 0;            ///< of the detector, bins counted
  std::vector<std::uint64_t> offsets;  ///< (positions + 1)
  std::vector<std::uint8_t> valid;     ///< (position): 0 where there is no pattern
  std::vector<float> qy, qx;  ///< (disk) px of the detector, along rows and columns; pixel i covers [i - 1/2, i + 1/2)
  std::vector<float> intensity;     ///< (disk) height of the correlation with the template
  std::vector<float> var_y, var_x;  ///< (disk) px^2, NaN where not known; empty where none is
  double probe_radius = 0;          ///< px
  BraggCalibration calibration;
  std::string parameters = "{}";  ///< how disks were found, JSON

  [[nodiscard]] Index positions() const { return scan_rows * scan_cols; }
  [[nodiscard]] Index disks() const { return static_cast<Index>(qy.size()); }
  [[nodiscard]] Index first(Index position) const {
    return static_cast<Index>(offsets[static_cast<std::size_t>(position)]);
  }
  [[nodiscard]] Index last(Index position) const { return first(position + 1); }
  [[nodiscard]] Index count(Index position) const { return last(position) - first(position); }
  [[nodiscard]] bool has_variance() const { return !var_y.empty(); }
  [[nodiscard]] std::size_t bytes() const;

  /// /bragg/offsets u64, /bragg/valid u8, /bragg/{qy,qx,intensity} f32, var_y, var_x and (position) origin_y, origin_x
  /// f64 where they are known. The group has the attributes scan_shape, detector_shape, probe_radius, coordinates
  /// ("raw"), parameters, and what is known of the calibration: ellipse is a, b, theta and the radius; each variable
  /// has units, frame, sonde_version and command. Borrows nothing.
  [[nodiscard]] Contents contents(const std::string& command) const;
};

/// Throws Error(bad_file) where a disk is outside of the detector, or a value is not possible.
void require_sound(const std::string& path, const BraggVectors& vectors);

/// The vectors of an HDF5 file that contents() describes, or of a file of py4DSTEM (emd_vectors.h). The file may hold
/// anything: throws Error(bad_file) "FILE: damaged: FACT" where sizes, offsets or values contradict each other or the
/// detector, and "FILE: not a file of Bragg disks" for others.
[[nodiscard]] BraggVectors read_bragg_vectors(const std::string& path);

/// Whether a file has the schema of Bragg disks, or those of py4DSTEM. False for what is no HDF5 file, absent or not
/// readable.
[[nodiscard]] bool is_bragg_file(const std::string& path);

}  // namespace sonde::stem
