// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/orient/crystal_result.h"

namespace sonde::stem {
namespace {

constexpr double largest_index = 100;

Miller parse_zone(std::string_view text, std::string_view where) {
  const std::vector<double> numbers = parse_numbers(text, where);
  bool whole = numbers.size() == 3;
  for (const double number : numbers)
    whole = whole && number == std::round(number) && std::abs(number) <= largest_index;
  if (!whole || (numbers[0] == 0 && numbers[1] == 0 && numbers[2] == 0))
    throw Error(ErrorKind::usage,
                fmt::format("{}: \"{}\"; expected U,V,W: three whole numbers from -{} to {}, not all 0", where, text,
                            largest_index, largest_index));
  return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
}

void check_zone(std::string_view text, std::string_view where) { (void)parse_zone(text, where); }

}  // namespace

std::optional<Miller> CrystalOptions::zone_asked() const {
  if (zone.empty()) return std::nullopt;
  return parse_zone(zone, setting("zone"));
}

void CrystalOptions::check() const {
  if (zone_asked() && !voltage)
    throw Error(ErrorKind::bad_input, "the pattern of a zone axis needs the wavelength of the electrons")
        .hint("give " + setting("voltage"));
}

void CrystalOptions::describe(Fields& fields) {
  fields.heading("Reflections");
  fields.add("k_max", k_max, {.help = "largest 1/d", .unit = "1/A", .min = 0.01, .max = 20});
  fields.heading("Pattern");
  fields.add("zone", zone,
             {.help = "the beam along this direction of the crystal: its pattern too",
              .metavar = "U,V,W",
              .check = check_zone});
  fields.add("voltage", voltage, {.help = "accelerating voltage", .unit = "kV", .min = 1, .max = 3000});
  fields.add("excitation_error", excitation_error,
             {.help = "standard deviation of the distance from Ewald's sphere at which a reflection is excited",
              .unit = "1/A",
              .min = 1e-4,
              .max = 1});
  fields.add("precession", precession,
             {.help = "half-angle of the cone of a precessing beam", .unit = "degrees", .min = 0, .max = 10});
  fields.heading("");
}

}  // namespace sonde::stem
