// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde::stem {

/// Whose numbers a rotation and a flag of the user are.
enum class Convention { sonde, py4dstem, libertem };

/// From the detector to the scan, as turned() applies it: v' = R(rotation) T v.
struct DetectorToScan {
  double rotation = 0;  ///< rad
  bool transpose = false;
};

/// Numbers of another program in the terms of this one. py4DSTEM's rotation and transpose act on (row, column), so that
/// its angle has the other sign. LiberTEM's scan_rotation and flip_y are the matrix R(rotation) (y -> -y), and
/// y -> -y is R(-90 degrees) T: its documentation is followed. `flag` is the transposition, of LiberTEM flip_y.
[[nodiscard]] DetectorToScan from_convention(Convention convention, double rotation, bool flag);
/// And back; the angle from -pi to pi.
[[nodiscard]] DetectorToScan to_convention(Convention convention, const DetectorToScan& own);

}  // namespace sonde::stem
