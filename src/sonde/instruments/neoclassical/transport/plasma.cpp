// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/plasma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::neoclassical {
namespace {

constexpr double dalton = 1.66053906660e-27;  // kg

/// Bare nuclei: mass of the nucleus in Da.
struct Nucleus {
  const char* name;
  double mass;
  int charge;
};
constexpr Nucleus nuclei[] = {{"H", 1.007276466621, 1},   {"D", 2.013553212745, 1},   {"T", 3.01550071621, 1},
                              {"He3", 3.014932247175, 2}, {"He4", 4.001506179127, 2}, {"C", 11.996708522, 6}};

double electron_volts(double temperature) { return temperature / elementary_charge; }

const Population& electrons_of(std::span<const Population> plasma) {
  const auto found =
      std::find_if(plasma.begin(), plasma.end(), [](const Population& a) { return a.species.charge < 0; });
  if (found == plasma.end())
    throw Error(ErrorKind::bad_input, "no species has a negative charge: this Coulomb logarithm is that of electrons")
        .hint("choose impact_parameter");
  return *found;
}

/// NRL Plasma Formulary, "Coulomb logarithm": densities in 1/cm^3, temperatures in eV.
double nrl_logarithm(const Population& a, const Population& b) {
  const auto density = [](const Population& x) { return x.density * 1e-6; };
  const auto charge = [](const Population& x) { return std::abs(x.species.charge) / elementary_charge; };
  const double ta = electron_volts(a.temperature), tb = electron_volts(b.temperature);
  const bool a_is_light = a.species.charge < 0, b_is_light = b.species.charge < 0;
  if (a_is_light && b_is_light)
    return 23.5 - std::log(std::sqrt(density(a)) * std::pow(ta, -1.25)) -
           std::sqrt(1e-5 + std::pow(std::log(ta) - 2, 2) / 16);
  if (a_is_light || b_is_light) {
    const Population &e = a_is_light ? a : b, &i = a_is_light ? b : a;
    const double te = electron_volts(e.temperature), z = charge(i);
    const double cold = 23 - std::log(std::sqrt(density(e)) * z * std::pow(te, -1.5));
    return te < 10 * z * z ? cold : 24 - std::log(std::sqrt(density(e)) / te);
  }
  const double ma = a.species.mass, mb = b.species.mass, za = charge(a), zb = charge(b);
  return 23 - std::log(za * zb * (ma + mb) / (ma * tb + mb * ta) *
                       std::sqrt(density(a) * za * za / ta + density(b) * zb * zb / tb));
}

double impact_logarithm(std::span<const Population> plasma, const Population& a, const Population& b) {
  double inverse_debye2 = 0;
  for (const Population& c : plasma)
    inverse_debye2 += c.density * c.species.charge * c.species.charge / (vacuum_permittivity * c.temperature);
  const double reduced_mass = a.species.mass * b.species.mass / (a.species.mass + b.species.mass);
  const double speed2 = 3 * (a.temperature / a.species.mass + b.temperature / b.species.mass);
  const double classical = std::abs(a.species.charge * b.species.charge) /
                           (4 * std::numbers::pi * vacuum_permittivity * reduced_mass * speed2);
  const double quantum = reduced_planck / (2 * reduced_mass * std::sqrt(speed2));
  return -std::log(std::max(classical, quantum) * std::sqrt(inverse_debye2));
}

/// n_b q_a^2 q_b^2 ln Lambda / (4 pi eps0^2 m_a^2), m^3/s^4.
double strength(const Population& a, const Population& b, double logarithm) {
  const double charges = a.species.charge * b.species.charge / (vacuum_permittivity * a.species.mass);
  return b.density * charges * charges * logarithm / (4 * std::numbers::pi);
}

}  // namespace

Species species(std::string_view name) {
  if (name == "e") return {"e", electron_mass, -elementary_charge};
  std::vector<std::string> known{"e"};
  for (const Nucleus& nucleus : nuclei) {
    if (name == nucleus.name) return {nucleus.name, nucleus.mass * dalton, nucleus.charge * elementary_charge};
    known.emplace_back(nucleus.name);
  }
  throw Error(ErrorKind::bad_input, fmt::format("no species \"{}\" is known", name))
      .hint("known are " + join_words(known));
}

double Population::thermal_speed() const { return std::sqrt(2 * temperature / species.mass); }

void require_valid(std::span<const Population> plasma) {
  if (plasma.empty()) throw Error(ErrorKind::bad_input, "a plasma without species");
  for (std::size_t a = 0; a < plasma.size(); ++a) {
    const Population& population = plasma[a];
    const auto refuse = [&](const char* what, double value) {
      throw Error(ErrorKind::bad_input, fmt::format("species {}: {} is {}", population.species.name, what, value));
    };
    const auto positive = [&](const char* what, double value) {
      if (!(value > 0) || !std::isfinite(value)) refuse(what, value);
    };
    positive("its mass", population.species.mass);
    positive("its density", population.density);
    positive("its temperature", population.temperature);
    if (population.species.charge == 0 || !std::isfinite(population.species.charge))
      refuse("its charge", population.species.charge);
    if (!std::isfinite(population.density_slope)) refuse("the slope of its density", population.density_slope);
    if (!std::isfinite(population.temperature_slope))
      refuse("the slope of its temperature", population.temperature_slope);
    for (std::size_t b = 0; b < a; ++b)
      if (plasma[b].species.name == population.species.name)
        throw Error(ErrorKind::bad_input, fmt::format("two species are named {}", population.species.name));
  }
}

void require_neutral(std::span<const Population> plasma) {
  constexpr double tolerable = 1e-2;  // tables are given in two or three digits
  double sum = 0, all = 0;
  std::string parts;
  for (const Population& a : plasma) {
    const double charges = a.species.charge / elementary_charge * a.density;
    sum += charges;
    all += std::abs(charges);
    parts += fmt::format("{}n_{} = {:.3g}", parts.empty() ? "" : ", ", a.species.name, a.density);
  }
  if (std::abs(sum) > tolerable * all)
    throw Error(ErrorKind::bad_input,
                fmt::format("the plasma is not neutral: sum Z n = {:.3g} 1/m^3 with {}", sum, parts))
        .hint("give every species: the densities times charges of all ions make that of the electrons");
}

std::vector<double> coulomb_logarithms(std::span<const Population> plasma, CoulombLogarithm kind) {
  const std::size_t count = plasma.size();
  std::vector<double> logarithms(count * count);
  if (kind == CoulombLogarithm::electrons) {
    const Population& e = electrons_of(plasma);
    const double te = electron_volts(e.temperature);
    std::fill(logarithms.begin(), logarithms.end(), 32.2 + 1.15 * std::log10(te * te / e.density));
  } else {
    if (kind == CoulombLogarithm::nrl) static_cast<void>(electrons_of(plasma));
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b)
        logarithms[a * count + b] = kind == CoulombLogarithm::nrl ? nrl_logarithm(plasma[a], plasma[b])
                                                                  : impact_logarithm(plasma, plasma[a], plasma[b]);
  }
  for (std::size_t i = 0; i < logarithms.size(); ++i)
    if (!(logarithms[i] >= 1))
      throw Error(ErrorKind::bad_input,
                  fmt::format("the Coulomb logarithm of {} and {} is {:.3g}: this plasma is not weakly coupled",
                              plasma[i / count].species.name, plasma[i % count].species.name, logarithms[i]))
          .hint("check the units of temperature and density");
  return logarithms;
}

double chandrasekhar(double x) {
  constexpr double two_by_root_pi = 2 * std::numbers::inv_sqrtpi;
  if (x < 0.5) {
    // Term by term from the series of erf: sum_n (-1)^(n+1) x^(2n-1) / ((n-1)! (2n+1)); twelve terms leave 1e-17.
    double term = x, sum = 0;
    for (int n = 1; n <= 12; ++n) {
      sum += term / (2 * n + 1);
      term *= -x * x / n;
    }
    return two_by_root_pi * sum;
  }
  return (std::erf(x) - x * two_by_root_pi * std::exp(-x * x)) / (2 * x * x);
}

double collision_frequency(std::span<const Population> plasma, std::span<const double> logarithms, std::size_t a,
                           double v) {
  double sum = 0;
  for (std::size_t b = 0; b < plasma.size(); ++b) {
    const double x = v / plasma[b].thermal_speed();
    sum += strength(plasma[a], plasma[b], logarithms[a * plasma.size() + b]) * (std::erf(x) - chandrasekhar(x));
  }
  return sum / (v * v * v);
}

double inverse_collision_time(const Population& a, const Population& b, double logarithm) {
  const double speed = a.thermal_speed();
  return 4 / (3 * std::sqrt(std::numbers::pi)) * strength(a, b, logarithm) / (speed * speed * speed);
}

}  // namespace sonde::neoclassical
