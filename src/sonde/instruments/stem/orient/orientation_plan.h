// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/instruments/stem/orient/zone_axes.h"

namespace sonde::stem {

/// A Bragg peak of a measured pattern, from the centre of the direct beam.
struct DiffractionPeak {
  double x = 0, y = 0;  ///< 1/A, along columns and rows
  double intensity = 0;
};

/// Names as in py4DSTEM.
struct OrientationOptions {
  double voltage = 0;               ///< kV
  double k_max = 1.5;               ///< 1/A
  double angle_step_zone_axis = 2;  ///< degrees
  double angle_step_in_plane = 2;   ///< degrees
  double tol_distance = 0.01;       ///< 1/A: reflections of one shell
  double power_radial = 1;
  double power_intensity = 0.25;
  double corr_kernel_size = 0.08;        ///< 1/A
  double sigma_excitation_error = 0.02;  ///< 1/A
  double precession = 0;                 ///< half-angle of the cone of the beam, degrees
};

/// Patterns of a crystal along all zone axes in polar coordinates (Ophus et al. 2022), as Fourier series over the
/// angle: P[z, s, m] = sum of r_s^power_radial I^power_intensity of the spots of shell s, each shared by the two
/// nearest of M angles, every z with the L2 norm 1. Holds 8 bytes for each zone, shell and M / 2 + 1 frequencies.
/// Thread-safe.
class OrientationPlan {
 public:
  /// Throws Error(bad_input) for a voltage that is not above 0, and what list_reflections() throws.
  static OrientationPlan prepare(const Crystal& crystal, const OrientationOptions& options);

  [[nodiscard]] const OrientationOptions& options() const { return options_; }
  [[nodiscard]] const Crystal& crystal() const { return crystal_; }
  [[nodiscard]] const std::vector<Reflection>& reflections() const { return reflections_; }
  [[nodiscard]] const PointGroup& group() const { return group_; }
  [[nodiscard]] const std::vector<Mat3>& proper() const { return proper_; }  ///< turns of the group
  /// Directions with indices up to 6: planes across others have no reflections that a pattern would show.
  [[nodiscard]] const std::vector<LatticeDirection>& low_directions() const { return low_directions_; }
  [[nodiscard]] const KinematicBeam& beam() const { return beam_; }
  [[nodiscard]] const std::vector<Vec3>& zones() const { return zones_; }
  [[nodiscard]] const std::vector<double>& radii() const { return radii_; }
  [[nodiscard]] Index angles() const { return angles_; }
  [[nodiscard]] Index frequencies() const { return angles_ / 2 + 1; }
  [[nodiscard]] std::size_t bytes() const { return (real_.size() + imaginary_.size()) * sizeof(float); }

  /// (zone, shell) of one frequency: the parts of the series of the patterns.
  [[nodiscard]] View<const float, 2> real(Index frequency) const { return part(real_, frequency); }
  [[nodiscard]] View<const float, 2> imaginary(Index frequency) const { return part(imaginary_, frequency); }

  /// X[s, m] of a measured pattern: r_s^power_radial I^power_intensity exp(-d^2 / (2 corr_kernel_size^2)), summed over
  /// the peaks within corr_kernel_size of a shell's radius, d the distance along radius and arc. `polar` holds shells
  /// times angles.
  void draw(const DiffractionPeak* peaks, std::size_t count, float* polar) const;

 private:
  [[nodiscard]] View<const float, 2> part(const std::vector<float>& of, Index frequency) const;
  void find_shells();
  void draw_zone(const std::vector<KinematicSpot>& pattern, float* polar) const;

  OrientationOptions options_;
  Crystal crystal_;
  std::vector<Reflection> reflections_;
  PointGroup group_;
  std::vector<Mat3> proper_;
  std::vector<LatticeDirection> low_directions_;
  KinematicBeam beam_;
  std::vector<Vec3> zones_;
  std::vector<double> radii_, weights_;  ///< of shells; r^power_radial
  std::vector<Index> shell_of_;          ///< of reflections
  Index angles_ = 0;
  std::vector<float> real_, imaginary_;  ///< (frequency, zone, shell)
};

}  // namespace sonde::stem
