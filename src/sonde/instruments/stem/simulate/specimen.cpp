// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/specimen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace sonde::stem {
namespace {

using std::numbers::pi;

/// How a material scatters. Thickness is in fractions of the scan's side, like all lengths here.
struct Material {
  double absorption;  ///< mu: electrons leave the direct beam as exp(-mu t)
  double wide_share;  ///< of the scattered ones, that go to high angles
  double extinction;  ///< thickness of one full oscillation between direct and diffracted beams
  double potential;   ///< mean inner potential relative to the heavy one's
  double reflection;  ///< relative lattice of its diffraction pattern
};
constexpr Material film_material = {0.22, 0.10, 1, 0, 1};
constexpr Material heavy_material = {6.0, 0.42, 0.070, 1.0, 1.0};
constexpr Material light_material = {1.6, 0.16, 0.105, 0.55, 0.82};

const Material& material_of(const Particle& particle) { return particle.heavy ? heavy_material : light_material; }

constexpr double film_potential = 0.006;        // per unit of film thickness
constexpr double halo_of_vacuum = 0.012;        // apertures and lenses scatter a little, too
constexpr double strongest_diffraction = 0.62;  // of the direct beam, all reflections of a crystal together
constexpr double tilt_asymmetry = 0.2;          // a tilted crystal diffracts more to one side
constexpr double probe = 0.003;                 // half the distance over which the beam averages the potential

/// Distance from the centre to the outline of a regular polygon in direction `angle`; a circle without corners.
double outline(const Particle& particle, double angle) {
  if (particle.corners < 3) return particle.radius;
  const double sector = 2 * pi / particle.corners;
  const double turned = angle - particle.turn;
  const double within = turned - sector * std::floor(turned / sector) - sector / 2;
  return particle.radius * std::cos(sector / 2) / std::cos(within);
}

/// A dome over the outline; its foot is rounded off, so that the slope stays finite.
double thickness(const Particle& particle, double y, double x) {
  const double down = y - particle.row, across = x - particle.col;
  const double distance = std::hypot(down, across);
  if (distance >= particle.radius) return 0;
  const double rim = outline(particle, std::atan2(down, across));
  const double foot = 0.2 * particle.radius, height = rim * rim - distance * distance;
  return height <= 0 ? 0 : 2 * particle.radius / rim * (std::sqrt(height + foot * foot) - foot);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Signed distance from the junction: a gently curved line across the upper right of the film.
double from_junction(double y, double x) {
  return (x - 0.16) * 0.80 + (y + 0.10) * 0.60 + 0.05 * std::sin(2 * pi * (y * 0.9 - x * 0.5));
}
constexpr double junction_width = 0.022;
constexpr double junction_step = 0.009;  // half the potential difference across it

}  // namespace

Specimen::Specimen(double spot_distance, double deflection)
    : spot_distance_(spot_distance),
      deflection_(deflection),
      particles_({
          // row, col, radius, corners, turn, tilt, heavy
          {-0.270, -0.290, 0.125, 6, 0.20, 0.9, false},
          {0.130, 0.060, 0.105, 6, 0.75, 3.9, false},
          {0.330, 0.335, 0.115, 4, 0.35, 5.3, false},
          {-0.045, -0.180, 0.070, 6, 0.50, 2.2, true},
          {-0.105, -0.075, 0.052, 0, 1.30, 4.1, true},
          {-0.360, 0.040, 0.060, 5, 0.10, 0.4, true},
          {-0.315, 0.345, 0.075, 6, 0.95, 1.7, true},
          {0.020, 0.345, 0.056, 4, 0.60, 5.9, true},
          {0.115, 0.420, 0.042, 0, 0.20, 2.9, true},
          {0.330, 0.055, 0.066, 5, 1.10, 3.3, true},
          {0.405, 0.165, 0.034, 0, 0.40, 1.0, true},
          {0.170, -0.130, 0.040, 6, 0.30, 5.0, true},
          {-0.430, -0.440, 0.036, 0, 0.80, 2.5, true},
          {-0.120, -0.420, 0.048, 6, 1.45, 0.2, true},
          {0.235, 0.165, 0.030, 0, 0.15, 3.6, true},
          {-0.190, 0.190, 0.032, 5, 0.70, 4.6, true},
      }) {}

/// 1 on the film, 0 in the hole at the lower left.
double Specimen::cover(double y, double x) const {
  const double hole = std::hypot(y - 0.47, x + 0.43) - 0.27 - 0.012 * std::sin(5 * std::atan2(y - 0.47, x + 0.43));
  return logistic(hole / 0.006);
}

/// Thickness of the film in units of its middle: a wedge to the right, with a texture of 3 %.
double Specimen::film(double y, double x) const {
  double texture = 0;
  for (int wave = 1; wave <= 24; ++wave) {
    const double angle = 2.399963 * wave, fraction = 0.618034 * wave;  // golden angle and section: evenly spread
    const double frequency = 9 + 17 * (fraction - std::floor(fraction));
    texture += std::cos(2 * pi * frequency * (std::sin(angle) * y + std::cos(angle) * x) + 1.7 * wave * wave);
  }
  return cover(y, x) * (1 + 0.35 * x - 0.15 * y + 0.009 * texture);
}

double Specimen::potential(double y, double x) const {
  double sum =
      film_potential * film(y, x) + junction_step * cover(y, x) * std::tanh(from_junction(y, x) / junction_width);
  for (const Particle& particle : particles_) sum += 0.12 * material_of(particle).potential * thickness(particle, y, x);
  return sum;
}

Beam Specimen::beam(double y, double x) const {
  Beam beam;
  // Electrons are pulled towards positive potential.
  beam.shift_row = deflection_ * (potential(y + probe, x) - potential(y - probe, x)) / (2 * probe);
  beam.shift_col = deflection_ * (potential(y, x + probe) - potential(y, x - probe)) / (2 * probe);

  double scattering = film_material.absorption * film(y, x);
  double wide = scattering * film_material.wide_share;
  for (const Particle& particle : particles_) {
    const Material& material = material_of(particle);
    const double amount = material.absorption * thickness(particle, y, x);
    scattering += amount;
    wide += amount * material.wide_share;
  }
  const double direct = std::exp(-scattering);
  const double wide_share = scattering > 0 ? wide / scattering : 0;

  double diffracted = 0;
  for (const Particle& particle : particles_) {
    const double thick = thickness(particle, y, x);
    if (thick <= 0) continue;
    const Material& material = material_of(particle);
    const double sine = std::sin(pi * thick / material.extinction);
    const int reflections = particle.corners == 4 ? 4 : 6;
    double sum = 0;
    for (int i = 0; i < reflections; ++i)
      sum += 1 + tilt_asymmetry * std::cos(particle.turn + 2 * pi * i / reflections - particle.tilt);
    // What an earlier, overlapping crystal has diffracted is gone.
    const double share = strongest_diffraction * sine * sine * (1 - diffracted);
    for (int i = 0; i < reflections; ++i) {
      const double angle = particle.turn + 2 * pi * i / reflections;
      const double strength = share * (1 + tilt_asymmetry * std::cos(angle - particle.tilt)) / sum;
      const double distance = spot_distance_ * material.reflection;
      beam.add({distance * std::sin(angle), distance * std::cos(angle), direct * strength});
    }
    diffracted += share;
    if (beam.spot_count + 6 > Beam::max_spots) break;
  }
  beam.disk = direct * (1 - diffracted) * (1 - halo_of_vacuum);
  beam.halo = (1 - direct) * (1 - wide_share) + direct * (1 - diffracted) * halo_of_vacuum;
  beam.wide = (1 - direct) * wide_share;
  return beam;
}

Model::BeamAt scan_over(Specimen specimen, Index scan_rows, Index scan_cols, double descan) {
  const auto rows = static_cast<double>(scan_rows), cols = static_cast<double>(scan_cols), side = std::min(rows, cols);
  return [specimen = std::move(specimen), rows, cols, side, descan](Index scan_row, Index scan_col) {
    const double down = static_cast<double>(scan_row) + 0.5, across = static_cast<double>(scan_col) + 0.5;
    Beam beam = specimen.beam((down - rows / 2) / side, (across - cols / 2) / side);
    beam.shift_row += descan * (down / rows - 0.5);
    beam.shift_col -= descan * (across / cols - 0.5);
    return beam;
  };
}

}  // namespace sonde::stem
