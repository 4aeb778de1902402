// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/aberrations.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::ptycho {
namespace {

struct Term {
  int n, m;
};
constexpr std::array<Term, 14> table = {
    {{1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 0}, {3, 2}, {3, 4}, {4, 1}, {4, 3}, {4, 5}, {5, 0}, {5, 2}, {5, 4}, {5, 6}}};

/// What a name stands for.
struct Coefficient {
  std::size_t term = 0;
  bool angle = false;
  double sign = 1;
};

Coefficient coefficient(std::string_view name) {
  if (name == "defocus") return {0, false, -1};
  if (name == "Cs") name = "C30";
  if (name == "C5") name = "C50";
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (name == fmt::format("C{}{}", table[i].n, table[i].m)) return {i, false, 1};
    if (table[i].m > 0 && name == fmt::format("phi{}{}", table[i].n, table[i].m)) return {i, true, 1};
  }
  throw Error(ErrorKind::bad_input,
              fmt::format("unknown aberration \"{}\"{}", name, did_you_mean(name, Aberrations::names())));
}

}  // namespace

const std::vector<std::string>& Aberrations::names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const Term& term : table) {
      list.push_back(fmt::format("C{}{}", term.n, term.m));
      if (term.m > 0) list.push_back(fmt::format("phi{}{}", term.n, term.m));
    }
    list.insert(list.end(), {"defocus", "Cs", "C5"});
    return list;
  }();
  return all;
}

void Aberrations::set(std::string_view name, double value) {
  const Coefficient which = coefficient(name);
  if (!std::isfinite(value)) throw Error(ErrorKind::bad_input, fmt::format("aberration {} = {}", name, value));
  (which.angle ? angle_ : magnitude_)[which.term] = which.sign * value;
}

double Aberrations::get(std::string_view name) const {
  const Coefficient which = coefficient(name);
  return which.sign * (which.angle ? angle_ : magnitude_)[which.term];
}

double Aberrations::chi(double alpha, double phi, double wavelength) const {
  static_assert(table.size() == terms);
  double sum = 0;
  for (std::size_t i = 0; i < terms; ++i) {
    if (magnitude_[i] == 0) continue;
    const auto [n, m] = table[i];
    sum += std::pow(alpha, n + 1) / (n + 1) * magnitude_[i] * std::cos(m * (phi - angle_[i]));
  }
  return 2 * std::numbers::pi / wavelength * sum;
}

}  // namespace sonde::ptycho
