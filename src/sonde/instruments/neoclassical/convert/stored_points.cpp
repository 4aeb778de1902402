// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/stored_points.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/neoclassical/convert/conversions.h"

namespace sonde::neoclassical {
namespace {

const std::vector<double>& numbers(const StoredNumbers& stored, const std::string& name) {
  const auto found = stored.find(name);
  if (found == stored.end())
    throw Error(ErrorKind::bad_input, fmt::format("no quantity {}, so it is not a result of this kind", name));
  return found->second;
}

double number(const StoredNumbers& stored, const std::string& name) {
  const std::vector<double>& values = numbers(stored, name);
  if (values.size() != 1)
    throw Error(ErrorKind::bad_input, fmt::format("{} holds {} numbers, expected one", name, values.size()));
  return values.front();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether a run stored this: coefficients in the label of its surface.
bool of_a_run(const StoredNumbers& stored) { return !stored.contains("G"); }

/// dpsi by the label that a run's coefficients are in. In s that is psi_a, which |sqrt g| B^zeta is on the mean.
double label_slope(const StoredNumbers& stored) {
  if (!(number(stored, "s") > 0)) return number(stored, "psi_scale");
  const std::vector<double>& jacobian = numbers(stored, "jacobian");
  std::vector<double> flux = numbers(stored, "b_sup_zeta");
  if (flux.size() != jacobian.size()) throw Error(ErrorKind::bad_input, "jacobian and b_sup_zeta differ in length");
  for (std::size_t i = 0; i < flux.size(); ++i) flux[i] *= std::abs(jacobian[i]);
  return mean(flux);
}

ConversionGeometry geometry_of(const StoredNumbers& stored, const ConversionSettings& settings) {
  ConversionGeometry geometry;
  geometry.B0 = number(stored, "B0");
  geometry.iota = number(stored, "iota");
  if (of_a_run(stored)) {
    geometry.G = mean(numbers(stored, "b_sub_zeta"));
    geometry.I = mean(numbers(stored, "b_sub_theta"));
    geometry.psi_p = label_slope(stored);
    const double s = number(stored, "s");
    geometry.signgs = mean(numbers(stored, "jacobian")) < 0 ? -1 : 1;
    if (stored.contains("a_b")) geometry.r = number(stored, "a_b") * std::sqrt(s);
    if (settings.minor_radius) geometry.r = *settings.minor_radius * std::sqrt(s);
    if (stored.contains("R0")) geometry.R0 = number(stored, "R0");
  } else {
    geometry.G = number(stored, "G");
    geometry.I = number(stored, "I");
    geometry.psi_p = number(stored, "psi_p");
    geometry.r = number(stored, "r");
    geometry.R0 = number(stored, "R0");
    if (stored.contains("signgs")) geometry.signgs = number(stored, "signgs");
    if (settings.minor_radius)
      throw Error(ErrorKind::bad_input, "minor_radius says no radius of a surface whose s is not stored")
          .hint(setting("radius") + ", that of the surface");
  }
  if (settings.radius) geometry.r = *settings.radius;
  if (settings.major_radius) geometry.R0 = *settings.major_radius;
  // s = (r / a_b)^2: ds/dr = 2 s / r. Without r there is no slope, and what needs it says so.
  if (of_a_run(stored) && number(stored, "s") > 0)
    geometry.psi_p = geometry.r > 0 ? geometry.psi_p * 2 * number(stored, "s") / geometry.r : 0;
  return geometry;
}

using Six = std::array<double, 6>;  ///< in the order of stored_names()

PsiPoint point_of(const Six& v, Normalisation from, const ConversionGeometry& geometry) {
  switch (from) {
    case Normalisation::ntx:
      return {{v[0], v[1], v[2], v[3]}, v[4], v[5]};
    case Normalisation::dkes:
      return from_dkes({{v[0], v[1], v[2], v[3]}, v[4], v[5]}, geometry);
    case Normalisation::sfincs:
      return from_sfincs({v[0], v[1], v[2], v[3], v[4], v[5]}, geometry);
    case Normalisation::stars:
      return from_stars({v[0], v[1], v[2], v[3], v[4], v[5]}, geometry);
  }
  return {};
}

Six values_of(const PsiPoint& point, Normalisation to, const ConversionGeometry& geometry) {
  switch (to) {
    case Normalisation::ntx:
      return {point.d.D11, point.d.D31, point.d.D13, point.d.D33, point.nu_hat, point.e_hat};
    case Normalisation::dkes: {
      const DkesPoint p = to_dkes(point, geometry);
      return {p.d.D11, p.d.D31, p.d.D13, p.d.D33, p.nu_hat, p.er_hat};
    }
    case Normalisation::sfincs: {
      const SfincsPoint p = to_sfincs(point, geometry);
      return {p.M11, p.M12, p.M21, p.M22, p.nu_prime, p.e_star};
    }
    case Normalisation::stars: {
      const StarPoint p = to_stars(point, geometry);
      return {p.D11_star, p.D31_star, p.D13_star, p.D33_star, p.nu_star, p.v_e_star};
    }
  }
  return {};
}

}  // namespace

void ConversionSettings::describe(Fields& fields) {
  const std::vector<std::pair<std::string, Normalisation>> words = {{"ntx", Normalisation::ntx},
                                                                    {"monkes", Normalisation::ntx},
                                                                    {"dkes", Normalisation::dkes},
                                                                    {"sfincs", Normalisation::sfincs},
                                                                    {"stars", Normalisation::stars}};
  fields.choice("from", from, words, {.help = "normalisation of the input"});
  fields.choice("to", to, words, {.help = "normalisation of the output"});
  fields.add("radius", radius,
             {.help = "minor radius of one surface, for stars, and for dkes from results in s", .unit = "m", .min = 0});
  fields.add("minor_radius", minor_radius,
             {.help = "a_b, minor radius of the plasma: that of every surface follows from it", .unit = "m", .min = 0});
  fields.add("major_radius", major_radius, {.help = "R0, for stars", .unit = "m", .min = 0});
  fields.add("psi_a", psi_a,
             {.help = "toroidal flux of the edge / 2 pi with its sign, for tables in s that lack it", .unit = "T m^2"});
}

std::array<std::string, 6> stored_names(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::ntx:
      return {"D11", "D31", "D13", "D33", "nu_hat", "e_hat"};
    case Normalisation::dkes:
      return {"D11", "D31", "D13", "D33", "nu_hat", "er_hat"};
    case Normalisation::sfincs:
      return {"M11", "M12", "M21", "M22", "nu_prime", "e_star"};
    case Normalisation::stars:
      return {"D11_star", "D31_star", "D13_star", "D33_star", "nu_star", "v_e_star"};
  }
  return {};
}

std::array<std::string, 6> stored_units(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::ntx:
      return {"m", "m", "m", "m", "m^-1", "m^-1"};
    case Normalisation::dkes:
      return {"m^-1 T^-2", "T^-1", "T^-1", "m", "m^-1", "T"};
    case Normalisation::sfincs:
    case Normalisation::stars:
      break;
  }
  return {"1", "1", "1", "1", "1", "1"};
}

const char* name(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::ntx:
      return "ntx";
    case Normalisation::dkes:
      return "dkes";
    case Normalisation::sfincs:
      return "sfincs";
    case Normalisation::stars:
      return "stars";
  }
  return "";
}

void require_same_flux(double given, double own) {
  constexpr double tolerable = 0.01;
  if (std::abs(given - own) <= tolerable * std::abs(own)) return;
  throw Error(ErrorKind::bad_input, fmt::format("psi_a = {:.8g} T m^2 was given, but the file has {:.8g}", given, own))
      .hint("leave it out: it is for files that do not say it");
}

StoredNumbers converted(const StoredNumbers& stored, const ConversionSettings& settings) {
  if (stored.contains("nu_v"))
    throw Error(ErrorKind::bad_input, "tables over collisionality and field, expected the points of one surface");
  const ConversionGeometry geometry = geometry_of(stored, settings);
  const bool in_label = settings.from == Normalisation::ntx && of_a_run(stored);
  if (settings.from != Normalisation::ntx && of_a_run(stored) && number(stored, "s") > 0)
    throw Error(ErrorKind::bad_input, "the result of a run per s is in the normalisation ntx")
        .hint("leave out " + setting("from"));
  std::array<std::string, 6> names = stored_names(settings.from);
  if (in_label) names[5] = "epsi_hat";
  const std::size_t points = numbers(stored, names[0]).size();
  if (points == 0) throw Error(ErrorKind::bad_input, fmt::format("{} holds no number", names[0]));
  for (const std::string& name : names)
    if (const std::size_t length = numbers(stored, name).size(); length != points)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} holds {} numbers, but {} holds {}", name, length, names[0], points));

  const double slope = in_label ? label_slope(stored) : 1;
  if (settings.psi_a) {
    if (!in_label || !(number(stored, "s") > 0))
      throw Error(ErrorKind::bad_input, "psi_a has no meaning for points that are not per s").hint("leave it out");
    require_same_flux(*settings.psi_a, slope);  // the fields that are stored say it
  }
  // In s E_hat is per s as the coefficients are; surfaces with a label of their own have it per psi already.
  const double field_slope = in_label && number(stored, "s") > 0 ? slope : 1;
  const std::array<std::string, 6> new_names = stored_names(settings.to);
  StoredNumbers made;
  for (std::size_t i = 0; i < points; ++i) {
    Six values{};
    for (std::size_t k = 0; k < 6; ++k) values[k] = numbers(stored, names[k])[i];
    PsiPoint point = point_of(values, settings.from, geometry);
    point.d = relabelled(point.d, slope);
    point.e_hat /= field_slope;
    values = values_of(point, settings.to, geometry);
    for (std::size_t k = 0; k < 6; ++k) made[new_names[k]].push_back(values[k]);
  }
  for (const auto& [name, value] :
       {std::pair{"B0", geometry.B0}, std::pair{"iota", geometry.iota}, std::pair{"G", geometry.G},
        std::pair{"I", geometry.I}, std::pair{"psi_p", geometry.psi_p}, std::pair{"r", geometry.r},
        std::pair{"R0", geometry.R0}, std::pair{"signgs", geometry.signgs}})
    made[name] = {value};
  return made;
}

}  // namespace sonde::neoclassical
