// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/lens.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sonde::ptycho {
namespace {

using Line = Lens::Line;

Line product(const Line& a, const Line& b) {
  Line result{};
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != 0)
      for (std::size_t j = 0; i + j < b.size(); ++j) result[i + j] += a[i] * b[j];
  return result;
}

}  // namespace

Lens::Lens(const Sampling& sampling, double semiangle, ApertureEdge edge, const Aberrations& aberrations)
    : wavelength_(sampling.wavelength),
      radius_(semiangle / sampling.wavelength),
      // The geometric mean, should detector pixels be oblong.
      edge_(edge == ApertureEdge::pixel ? std::sqrt(sampling.dk_row * sampling.dk_col) : 0),
      soft_(edge == ApertureEdge::pixel) {
  require_calibrated(sampling, "a direct method");
  require_semiangle(sampling, semiangle);

  // C_nm / (n+1) lambda^n |k|^(n+1) cos(m (phi - phi_nm)) = ... (ky^2 + kx^2)^((n+1-m)/2) Re[e^(-i m phi_nm) (kx + i
  // ky)^m]
  for (const std::string& name : Aberrations::names()) {
    if (name.size() != 3 || name[0] != 'C') continue;
    const double magnitude = aberrations.get(name);
    if (magnitude == 0) continue;
    const int n = name[1] - '0', m = name[2] - '0';
    const double angle = m > 0 ? aberrations.get("phi" + name.substr(1)) : 0;
    const double scale = magnitude * std::pow(wavelength_, n) / (n + 1);
    const auto order = static_cast<std::size_t>(n + 1);
    highest_ = std::max(highest_, order);
    // All terms have the same order n+1, so that one index, the power of ky, distinguishes them.
    std::array<double, degree + 1> powers{};
    double binomial = 1;  // m over a
    for (int a = 0; a <= m; ++a) {
      // Re[e^(-i m angle) i^a] kx^(m-a) ky^a
      powers[static_cast<std::size_t>(a)] = binomial * std::cos(static_cast<double>(a) * std::acos(0.0) - m * angle);
      binomial *= static_cast<double>(m - a) / (a + 1);
    }
    for (int square = 0; square < (n + 1 - m) / 2; ++square)
      for (std::size_t a = degree + 1; a-- > 2;) powers[a] += powers[a - 2];
    for (std::size_t a = 0; a <= order; ++a) terms_[a][order - a] += scale * powers[a];
  }
}

double Lens::amplitude(Point k) const {
  const double distance = std::hypot(k.row, k.col);
  if (!soft_) return distance <= radius_ ? 1 : 0;
  return std::clamp((radius_ - distance) / edge_ + 0.5, 0.0, 1.0);
}

double Lens::reach() const { return radius_ + edge_ / 2; }

double Lens::turns(Point k) const { return along(k, {0, 0})[0]; }

Point Lens::gradient(Point k) const { return {along(k, {1, 0})[1], along(k, {0, 1})[1]}; }

Lens::Line Lens::along(Point from, Point step) const {
  std::array<Line, degree + 1> rows{}, cols{};
  rows[0] = cols[0] = {1};
  for (std::size_t power = 1; power <= highest_; ++power) {
    rows[power] = product(rows[power - 1], {from.row, step.row});
    cols[power] = product(cols[power - 1], {from.col, step.col});
  }
  Line result{};
  for (std::size_t a = 0; a <= highest_; ++a)
    for (std::size_t b = 0; a + b <= highest_; ++b) {
      if (terms_[a][b] == 0) continue;
      const Line term = product(rows[a], cols[b]);
      for (std::size_t i = 0; i <= a + b; ++i) result[i] += terms_[a][b] * term[i];
    }
  return result;
}

}  // namespace sonde::ptycho
