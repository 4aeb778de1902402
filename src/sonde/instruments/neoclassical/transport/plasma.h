// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::neoclassical {

inline constexpr double elementary_charge = 1.602176634e-19;     ///< C
inline constexpr double vacuum_permittivity = 8.8541878128e-12;  ///< F/m
inline constexpr double reduced_planck = 1.054571817e-34;        ///< J s
inline constexpr double electron_mass = 9.1093837015e-31;        ///< kg

struct Species {
  std::string name;
  double mass = 0;    ///< kg
  double charge = 0;  ///< C, signed
};

/// "e" and the bare nuclei "H", "D", "T", "He3", "He4", "C" by name. Throws Error(bad_input) naming the known ones.
[[nodiscard]] Species species(std::string_view name);

/// One species at one radius. SI units, temperature in J, slopes by r in m.
struct Population {
  Species species;
  double density = 0, temperature = 0, density_slope = 0, temperature_slope = 0;

  /// v_t = sqrt(2 T / m).
  [[nodiscard]] double thermal_speed() const;
};

/// Throws Error(bad_input) naming species and value when there is no species, two have one name, or a mass, charge,
/// density or temperature makes no sense.
void require_valid(std::span<const Population> plasma);

/// Throws Error(bad_input) when the charges of a plasma do not cancel within a per cent: neither its ambipolar field
/// nor its current would mean anything.
void require_neutral(std::span<const Population> plasma);

/// How the Coulomb logarithm is found.
enum class CoulombLogarithm {
  electrons,         ///< 32.2 + 1.15 log10(Te[eV]^2 / ne[1/m^3]) for all pairs
  nrl,               ///< the piecewise formulas of the NRL Plasma Formulary, each pair its own
  impact_parameter,  ///< ln(Debye length / larger of the classical and the quantum distance of closest approach)
};

/// ln Lambda of every pair, [a][b], symmetric. The electrons are the species of negative charge; `electrons` and `nrl`
/// throw Error(bad_input) without any. So do all where a value is below 1: no weakly coupled plasma.
[[nodiscard]] std::vector<double> coulomb_logarithms(std::span<const Population> plasma, CoulombLogarithm kind);

/// (erf x - x erf' x) / (2 x^2), without cancellation at small x.
[[nodiscard]] double chandrasekhar(double x);

/// nu_a(v): the frequency of pitch-angle scattering of species `a` by all, 1/s. `logarithms` as above.
[[nodiscard]] double collision_frequency(std::span<const Population> plasma, std::span<const double> logarithms,
                                         std::size_t a, double v);

/// 1/tau_ab = (4 / (3 sqrt(pi))) n_b q_a^2 q_b^2 ln Lambda / (4 pi eps0^2 m_a^2 v_ta^3), 1/s.
[[nodiscard]] double inverse_collision_time(const Population& a, const Population& b, double logarithm);

}  // namespace sonde::neoclassical
