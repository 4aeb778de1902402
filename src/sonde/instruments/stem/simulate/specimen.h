// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/stem/simulate/model.h"

namespace sonde::stem {

/// A crystalline particle on the film. Lengths are fractions of the shorter side of the scan, (0, 0) is its middle,
/// rows point down.
struct Particle {
  double row = 0, col = 0;
  double radius = 0;
  int corners = 0;    ///< of its outline; 0: round
  double turn = 0;    ///< of outline and lattice, radians
  double tilt = 0;    ///< direction towards which its crystal is tilted: brighter diffracted disks, radians
  bool heavy = true;  ///< heavy atoms scatter to high angles
};

/// Nanoparticles on an amorphous film with a hole, and an electrostatic junction inside the film; the same picture at
/// every size of the scan. Its images differ by what they are sensitive to:
///  - bright field: everything that takes electrons out of the direct disk, with thickness fringes in the particles;
///  - annular dark field: diffracted disks and film, particles of all kinds;
///  - high angles: heavy particles;
///  - first moments: the gradient of the projected potential, that is the rims of particles and of the hole, and the
///    junction, which intensities hardly show.
/// Thickness t of particles: a dome over their outline; of the film: a wedge with a random texture. Every material
/// sends 1 - exp(-sum mu t) of the electrons into the halos; a particle diffracts sin^2(pi t / extinction) of the rest
/// (two-beam dynamical theory) into disks at the corners of its reciprocal lattice.
class Specimen {
 public:
  /// The specimen of the demonstration. Diffracted disks lie some `spot_distance` pixels from the direct one,
  /// deflections reach `deflection` pixels.
  Specimen(double spot_distance, double deflection);

  /// What position (y, x) sends to the detector, in the lengths of Particle.
  [[nodiscard]] Beam beam(double y, double x) const;
  [[nodiscard]] const std::vector<Particle>& particles() const { return particles_; }

 private:
  [[nodiscard]] double cover(double y, double x) const;
  [[nodiscard]] double film(double y, double x) const;
  [[nodiscard]] double potential(double y, double x) const;

  double spot_distance_, deflection_;
  std::vector<Particle> particles_;
};

/// The beam function of a scan over the specimen: positions in the middle of their scan pixels, and a drift of the beam
/// of `descan` pixels from the first to the last scan row and column.
[[nodiscard]] Model::BeamAt scan_over(Specimen specimen, Index scan_rows, Index scan_cols, double descan);

}  // namespace sonde::stem
