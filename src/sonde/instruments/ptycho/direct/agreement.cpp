// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/agreement.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/direct/phased_sum.h"

namespace sonde::ptycho {
namespace {

double dot(Point a, Point b) { return a.row * b.row + a.col * b.col; }

/// chi / 2 pi per A of C10, C12 cos(2 phi12) and C12 sin(2 phi12).
std::array<double, 3> turns_per_a(Point k, double wavelength) {
  return {wavelength / 2 * (k.row * k.row + k.col * k.col), wavelength / 2 * (k.col * k.col - k.row * k.row),
          wavelength * k.row * k.col};
}
/// Their gradients.
std::array<Point, 3> gradients_per_a(Point k, double wavelength) {
  return {Point{wavelength * k.row, wavelength * k.col}, Point{-wavelength * k.row, wavelength * k.col},
          Point{wavelength * k.col, wavelength * k.row}};
}

constexpr double inside = 0.5;  // of the amplitude: what lies on the edge is rather noise

}  // namespace

Agreement::Terms Agreement::terms_at(Point q, std::size_t chosen) const {
  Terms terms;
  const Point turning{-q.col, q.row};  // d q / d rotation
  const double wavelength = lens_.wavelength();
  const bool plain = lens_.without_aberrations();
  const auto add = [&](std::size_t image, double sign, const std::array<double, 4>& turns,
                       const std::array<double, 4>& rotations) {
    const complex64 g = spectra_.of[chosen][image];
    terms.real.push_back(static_cast<float>(sign) * g.real());
    terms.imaginary.push_back(static_cast<float>(sign) * g.imag());
    for (std::size_t i = 0; i < 4; ++i) terms.turns[i].push_back(static_cast<float>(turns[i]));
    terms.rotations.push_back({static_cast<float>(rotations[0]), static_cast<float>(rotations[1]),
                               static_cast<float>(rotations[2]), static_cast<float>(rotations[3])});
  };
  for (std::size_t image = 0; image < field_.frequency.size(); ++image) {
    const Point k = field_.frequency[image];
    if (field_.amplitude[image] < inside) continue;
    const Point below{k.row - q.row, k.col - q.col}, above{k.row + q.row, k.col + q.col};
    const bool has_below = lens_.amplitude(below) >= inside, has_above = lens_.amplitude(above) >= inside;
    std::array<double, 4> turns{}, rotations{};
    if (model_ == FocusModel::parallax) {
      if (!has_below || !has_above) continue;
      const std::array<Point, 3> slope = gradients_per_a(k, wavelength);
      const Point fixed = plain ? Point{} : lens_.gradient(k);
      turns[0] = -dot(fixed, q);
      rotations[0] = -dot(fixed, turning);
      for (std::size_t i = 0; i < 3; ++i) {
        turns[i + 1] = -dot(slope[i], q);
        rotations[i + 1] = -dot(slope[i], turning);
      }
      add(image, 1, turns, rotations);
      continue;
    }
    if (has_below == has_above) continue;
    // chi(k-q) - chi(k), or chi(k) - chi(k+q) and the other sign.
    const double sign = has_below ? 1 : -1;
    const Point there = has_below ? below : above;
    const std::array<double, 3> far = turns_per_a(there, wavelength), near = turns_per_a(k, wavelength);
    const std::array<Point, 3> slope = gradients_per_a(there, wavelength);
    turns[0] = plain ? 0 : sign * (lens_.turns(there) - lens_.turns(k));
    rotations[0] = plain ? 0 : -dot(lens_.gradient(there), turning);
    for (std::size_t i = 0; i < 3; ++i) {
      turns[i + 1] = sign * (far[i] - near[i]);
      rotations[i + 1] = -dot(slope[i], turning);
    }
    add(image, sign, turns, rotations);
  }
  return terms;
}

void Agreement::turn(double rotation, Index frequencies) {
  const double c = std::cos(rotation), s = std::sin(rotation);
  terms_.assign(static_cast<std::size_t>(frequencies), {});
  parallel_for(frequencies, 1, [&](Index first, Index last, Worker&) {
    for (Index f = first; f < last; ++f) {
      const auto at = static_cast<std::size_t>(f);
      const Point q = spectra_.frequency[at];
      terms_[at] = terms_at({q.row * c - q.col * s, q.col * c + q.row * s}, at);
    }
  });
}

double Agreement::value(const FocusPoint& at) const { return slope(at, false).value; }
Agreement::Slope Agreement::slope(const FocusPoint& at) const { return slope(at, true); }

Agreement::Slope Agreement::slope(const FocusPoint& at, bool derivatives) const {
  std::vector<Slope> parts(terms_.size());
  const double aberrations[3] = {at[0], at[1], at[2]};
  parallel_for(static_cast<Index>(terms_.size()), 1, [&](Index first, Index last, Worker&) {
    std::vector<float> real, imaginary;
    for (Index f = first; f < last; ++f) {
      const Terms& terms = terms_[static_cast<std::size_t>(f)];
      Slope& part = parts[static_cast<std::size_t>(f)];
      const Index count = terms.count();
      if (count == 0) continue;
      real.resize(terms.real.size());
      imaginary.resize(terms.real.size());
      const float* const turns[4] = {terms.turns[0].data(), terms.turns[1].data(), terms.turns[2].data(),
                                     terms.turns[3].data()};
      cpu::phase_by(aberrations, turns, count, terms.real.data(), terms.imaginary.data(), real.data(),
                    imaginary.data());
      std::complex<double> sum;
      for (std::size_t i = 0; i < real.size(); ++i)
        sum += std::complex<double>(static_cast<double>(real[i]), static_cast<double>(imaginary[i]));
      const double size = std::abs(sum), n = static_cast<double>(count);
      part.value = size * size / n;
      if (!derivatives || size == 0) continue;

      // |S|^2 to second order in small turns b of the terms: those along S pull the others with them,
      // sum a sum a b^2 - (sum a b)^2 with a the part of a term along S; terms against S would make it indefinite.
      double along = 0;
      std::array<double, 4> first_moment{};
      std::array<std::array<double, 4>, 4> second_moment{};
      for (std::size_t i = 0; i < real.size(); ++i) {
        const std::complex<double> term(static_cast<double>(real[i]), static_cast<double>(imaginary[i]));
        const std::complex<double> relative = std::conj(sum) * term / size;
        const double a = std::max(relative.real(), 0.0);
        std::array<double, 4> b{};
        for (std::size_t j = 0; j < 3; ++j) b[j] = static_cast<double>(terms.turns[j + 1][i]);
        const std::array<float, 4>& r = terms.rotations[i];
        b[3] = static_cast<double>(r[0]) + at[0] * static_cast<double>(r[1]) + at[1] * static_cast<double>(r[2]) +
               at[2] * static_cast<double>(r[3]);
        along += a;
        for (std::size_t j = 0; j < 4; ++j) {
          part.gradient[j] -= relative.imag() * b[j];
          first_moment[j] += a * b[j];
          for (std::size_t l = 0; l <= j; ++l) second_moment[j][l] += a * b[j] * b[l];
        }
      }
      constexpr double turn = 2 * std::numbers::pi;
      for (std::size_t j = 0; j < 4; ++j) {
        part.gradient[j] *= 2 * turn * size / n;
        for (std::size_t l = 0; l <= j; ++l)
          part.curvature[j][l] = part.curvature[l][j] =
              2 * turn * turn / n * (along * second_moment[j][l] - first_moment[j] * first_moment[l]);
      }
    }
  });
  Slope total;
  for (const Slope& part : parts) {
    total.value += part.value;
    for (std::size_t j = 0; j < 4; ++j) {
      total.gradient[j] += part.gradient[j];
      for (std::size_t l = 0; l < 4; ++l) total.curvature[j][l] += part.curvature[j][l];
    }
  }
  return total;
}

double Agreement::noise() const {
  double total = 0;
  for (const Terms& terms : terms_) {
    double squares = 0;
    for (std::size_t i = 0; i < terms.real.size(); ++i)
      squares += static_cast<double>(terms.real[i] * terms.real[i] + terms.imaginary[i] * terms.imaginary[i]);
    if (terms.count() > 0) total += squares / static_cast<double>(terms.count());
  }
  return total;
}

}  // namespace sonde::ptycho
