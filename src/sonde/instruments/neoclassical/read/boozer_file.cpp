// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/boozer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/read/fields_of_file.h"

namespace sonde::neoclassical {
namespace {

constexpr double widest_gap = 0.05;   // in s, over which harmonics are interpolated
constexpr double same_radius = 1e-7;  // people write 0.48958333 for 23.5 / 48

std::string radii_text(const BoozerFile& file) {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(file.s.size(), most); ++i)
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", file.s[i]);
  if (file.s.size() > most) text += fmt::format(", ... {:.6g} ({} in all)", file.s.back(), file.s.size());
  return text;
}

/// The surfaces around s with no wide gap between neighbours: [first, last].
struct Segment {
  std::size_t first = 0, last = 0;
};

std::optional<Segment> segment_around(const std::vector<double>& s, double at) {
  const auto narrow = [&](std::size_t i) { return s[i + 1] - s[i] < widest_gap; };
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < s.size(); ++i)
    if (std::abs(s[i] - at) < std::abs(s[nearest] - at)) nearest = i;
  Segment segment{nearest, nearest};
  while (segment.first > 0 && narrow(segment.first - 1)) --segment.first;
  while (segment.last + 1 < s.size() && narrow(segment.last)) ++segment.last;
  if (segment.first == segment.last) return std::nullopt;
  const bool inside = at >= s[segment.first] && at <= s[segment.last];
  // The half cells at the axis and at the edge; a gap within the file is none of them.
  const bool at_axis = segment.first == 0 && at < s.front() && s.front() - at < widest_gap / 2;
  const bool at_edge = segment.last + 1 == s.size() && at > s.back() && at - s.back() < widest_gap / 2;
  return inside || at_axis || at_edge ? std::optional(segment) : std::nullopt;
}

std::optional<std::size_t> surface_of(const BoozerFile& file, double s) {
  for (std::size_t i = 0; i < file.s.size(); ++i)
    if (std::abs(file.s[i] - s) <= same_radius) return i;
  return std::nullopt;
}

/// Over the rows of the tables. `s` is what radius_for() gave.
RadialRule rule_of(const BoozerFile& file, double s) {
  if (const auto own = surface_of(file, s)) return {{static_cast<Index>(*own)}, {1}, 1, false};
  const Segment segment = segment_around(file.s, s).value();
  RadialRule rule = radial_rule(std::span(file.s).subspan(segment.first, segment.last - segment.first + 1), s);
  for (Index& row : rule.rows) row += static_cast<Index>(segment.first);
  return rule;
}

Series truncated(const Series& series, double min_bmn, Notes& notes) {
  const double least = min_bmn * series.cosine_of({0, 0});
  Series kept;
  for (std::size_t i = 0; i < series.modes.size(); ++i) {
    const double sine = series.sine.empty() ? 0 : series.sine[i];
    if (series.modes[i] != Mode{} && std::abs(series.cosine[i]) < least && std::abs(sine) < least) continue;
    kept.modes.push_back(series.modes[i]);
    kept.cosine.push_back(series.cosine[i]);
    if (!series.sine.empty()) kept.sine.push_back(sine);
  }
  notes.push_back(
      fmt::format("min_bmn = {:g}: {} of {} harmonics are kept", min_bmn, kept.modes.size(), series.modes.size()));
  return kept;
}

}  // namespace

double radius_for(const BoozerFile& file, double s, const BoozerChoice& choice, Notes& notes) {
  if (!(s > 0 && s <= 1))
    throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", file.path, s));
  if (const auto own = surface_of(file, s)) return file.s[*own];
  if (choice.snap) {
    const double nearest = *std::min_element(file.s.begin(), file.s.end(),
                                             [&](double a, double b) { return std::abs(a - s) < std::abs(b - s); });
    notes.push_back(fmt::format("s = {:.6g} was asked for; the nearest surface has s = {:.6g}", s, nearest));
    return nearest;
  }
  if (!segment_around(file.s, s))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: s = {:.6g} is in a gap of jlist of {} and more; its surfaces have s = {}", file.path,
                            s, widest_gap, radii_text(file)))
        .hint(setting("snap") + " takes the nearest one");
  if (s < file.s.front() || s > file.s.back())
    notes.push_back(
        fmt::format("s = {:.6g} is beyond the surfaces ({:.6g} to {:.6g}): the cubic of the end cell is "
                    "continued",
                    s, file.s.front(), file.s.back()));
  return s;
}

double required_psi_a(const BoozerFile& file) {
  if (!file.psi_a)
    throw Error(ErrorKind::bad_input, fmt::format("{}: has no toroidal flux of the edge (phi_b or toroidal_flux_b is "
                                                  "absent, 0 or not finite)",
                                                  file.path))
        .hint("give the equilibrium as " + setting("wout") + ", or the flux / 2 pi with its sign as psi_a (" +
              setting("psi_a") + ")");
  return *file.psi_a;
}

RadialProfile profile_at(const BoozerFile& file, double asked, const BoozerChoice& choice, Notes& notes) {
  const double s = radius_for(file, asked, choice, notes);
  const RadialRule profiles = radial_rule(file.profile_s, s), rule = rule_of(file, s);
  RadialProfile profile{s, profiles(file.iota), profiles(file.b_theta), profiles(file.b_zeta)};
  profile.b00 = rule(file.b, file.modes).cosine_of({0, 0});
  if (file.r.rows > 0) profile.r00 = rule(file.r, file.modes).cosine_of({0, 0});
  return profile;
}

Surface surface_at(const BoozerFile& file, double asked, const BoozerChoice& choice, Notes& notes) {
  const double psi_a = required_psi_a(file);
  const double s = radius_for(file, asked, choice, notes);
  const RadialRule profiles = radial_rule(file.profile_s, s);
  Surface surface;
  surface.source = file.path;
  surface.angles = "boozer";
  surface.periods = file.periods;
  surface.iota = profiles(file.iota);
  surface.s = s;
  surface.b = rule_of(file, s)(file.b, file.modes);
  if (choice.min_bmn > 0) surface.b = truncated(surface.b, choice.min_bmn, notes);
  BoozerField field;
  field.b_theta = profiles(file.b_theta);
  field.b_zeta = profiles(file.b_zeta);
  const double g_iota_i = field.b_zeta + surface.iota * field.b_theta;
  require_equal_signs(file.path, s, psi_a, g_iota_i);
  field.jacobian_b2 = file.sign_jacobian * psi_a * g_iota_i;
  field.flux = psi_a;
  surface.field = field;
  require_valid(surface);
  return surface;
}

}  // namespace sonde::neoclassical
