// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_values.h"

#include <fmt/format.h>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/read/gprmax_words.h"

namespace sonde::maxwell {

Error GprmaxValues::error(const std::string& what) const {
  return {ErrorKind::bad_file, fmt::format("{}: #{}: {}", command_->where(), command_->name, what)};
}

Error GprmaxValues::unsupported(const std::string& what) const {
  return {ErrorKind::not_supported, fmt::format("{}: {} is not supported yet", command_->where(), what)};
}

double GprmaxValues::number(std::size_t i, std::string_view what) const {
  const std::optional<double> value = number_of(word(i));
  if (!value) throw error(fmt::format("{} = \"{}\"; expected a number", what, word(i)));
  return *value;
}

double GprmaxValues::above_zero(std::size_t i, std::string_view what) const {
  const double value = number(i, what);
  if (!(value > 0)) throw error(fmt::format("{} = {}; expected above 0", what, word(i)));
  return value;
}

double GprmaxValues::at_least(double least, std::size_t i, std::string_view what) const {
  const double value = number(i, what);
  if (!(value >= least)) throw error(fmt::format("{} = {}; expected at least {}", what, word(i), least));
  return value;
}

Index GprmaxValues::whole(Index least, std::size_t i, std::string_view what) const {
  const std::optional<Index> value = whole_number_of(word(i));
  if (!value || *value < least)
    throw error(fmt::format("{} = \"{}\"; expected a whole number of at least {}", what, word(i), least));
  return *value;
}

Xyz GprmaxValues::xyz(std::size_t i) const { return {number(i, "x"), number(i + 1, "y"), number(i + 2, "z")}; }

GprmaxTime GprmaxValues::time(std::size_t i, std::string_view what) const {
  if (whole_number_of(word(i))) return {0, whole(1, i, what)};
  return {above_zero(i, what), std::nullopt};
}

std::size_t GprmaxValues::axis(std::size_t i, std::string_view what) const {
  const std::string letter = to_lower(word(i));
  const std::size_t place = letter.size() == 1 ? xyz_letters.find(letter) : std::string_view::npos;
  if (place == std::string_view::npos) throw error(fmt::format("{} = \"{}\"; expected x, y or z", what, word(i)));
  return place;
}

bool GprmaxValues::yes(std::size_t i, std::string_view what) const {
  const std::string letter = to_lower(word(i));
  if (letter != "y" && letter != "n") throw error(fmt::format("{} = \"{}\"; expected y or n", what, word(i)));
  return letter == "y";
}

}  // namespace sonde::maxwell
