// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/stem/orient/reflections.h"

namespace sonde::stem {

/// The columns of an orientation are the directions of the detector's x (columns) and y (rows) and of the beam's axis
/// z, in Cartesian axes of the crystal: a reciprocal vector g is at O^T g.
using Orientation = Mat3;

struct KinematicBeam {
  double wavelength = 0;                 ///< A
  double sigma_excitation_error = 0.02;  ///< 1/A
  double precession = 0;                 ///< half-angle of the cone, rad; 0: no precession
};

/// Sigmas of the excitation error beyond which a reflection is not excited.
inline constexpr double widest_excitation = 3;

struct KinematicSpot {
  std::size_t reflection = 0;  ///< in the list that was given
  double x = 0, y = 0;         ///< 1/A
  double intensity = 0;        ///< |F|^2 exp(-s^2 / (2 sigma^2))
};

/// Distance of a reflection from Ewald's sphere along the axis, in 1/A, for the incident wave (0, 0, -1/wavelength).
[[nodiscard]] double excitation_error(const Vec3& g_detector, double wavelength);

/// Of a precessing beam: the mean of exp(-s^2 / (2 sigma^2)) over 72 azimuths, those with |s| above 3 sigma counted as
/// 0, and its first two derivatives over g_z where the length of g stays. s along (0, 0, -1) is the root of |g + k + s
/// n|^2 = |k|^2 (Ophus et al. 2022). Azimuths are counted from that of g, so that a pattern turns with its crystal.
/// About 1 us, less where no azimuth excites the reflection.
struct PrecessedWeight {
  double value = 0, first = 0, second = 0;
};
[[nodiscard]] PrecessedWeight precessed_weight(double length, double g_z, const KinematicBeam& beam);

/// Spots with an excitation error of at most 3 sigma; of a precessing beam the mean over 72 azimuths.
[[nodiscard]] std::vector<KinematicSpot> kinematic_pattern(const std::vector<Reflection>& reflections,
                                                           const Orientation& orientation, const KinematicBeam& beam);

/// The beam along [u v w], and x along the shortest of the reflections across it (along the projection of the shortest
/// one of all where none is).
[[nodiscard]] Orientation orientation_of_zone(const Crystal& crystal, const std::vector<Reflection>& reflections,
                                              const Miller& zone);

}  // namespace sonde::stem
