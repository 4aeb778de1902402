// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/specimen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/simulate/streams.h"

namespace sonde::ptycho {
namespace {

constexpr double reach = 9;  // widths: exp(-9^2 / 2) = 3e-18 is below the last bit of the peak

/// exp(-(i pixel - place)^2 / (2 rms^2)) for the pixels [first, first + values) that it reaches.
struct Profile {
  Index first = 0;
  std::vector<double> values;
};

Profile profile(double place, double rms, Index count, double pixel) {
  const double lowest = std::max(0.0, std::ceil((place - reach * rms) / pixel));
  const double highest = std::min(static_cast<double>(count - 1), std::floor((place + reach * rms) / pixel));
  Profile result;
  if (!(lowest <= highest)) return result;
  result.first = static_cast<Index>(lowest);
  for (Index i = result.first; i <= static_cast<Index>(highest); ++i) {
    const double distance = static_cast<double>(i) * pixel - place;
    result.values.push_back(std::exp(-distance * distance / (2 * rms * rms)));
  }
  return result;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

Array atom_phase(std::span<const Site> sites, double rms, const Grid& grid) {
  if (!(rms > 0)) throw Error(ErrorKind::bad_input, fmt::format("atoms of rms width {} A", rms));
  Array phase = Array::zeros(Device::cpu(), {grid.rows, grid.cols}, DType::f64);
  const View<double, 2> map = phase.view<double, 2>();
  for (const Site& site : sites) {
    const Profile down = profile(site.row, rms, grid.rows, grid.pixel_row);
    const Profile across = profile(site.col, rms, grid.cols, grid.pixel_col);
    for (std::size_t row = 0; row < down.values.size(); ++row)
      for (std::size_t col = 0; col < across.values.size(); ++col)
        map(down.first + static_cast<Index>(row), across.first + static_cast<Index>(col)) +=
            site.peak * down.values[row] * across.values[col];
  }
  return phase;
}

std::vector<Site> lattice_sites(const Lattice& lattice, const Grid& grid, std::uint64_t seed) {
  const double spacing = lattice.spacing;
  if (!(spacing > 0)) throw Error(ErrorKind::bad_input, fmt::format("a lattice of spacing {} A", spacing));
  const double height = static_cast<double>(grid.rows) * grid.pixel_row;
  const double width = static_cast<double>(grid.cols) * grid.pixel_col, border = 2 * spacing;
  // Vectors as (row, column), turned from columns towards rows; a lattice point lies on the middle of the grid.
  const double between = lattice.kind == LatticeKind::square ? std::acos(0.0) : std::acos(0.5);
  const Point a{spacing * std::sin(lattice.turn), spacing * std::cos(lattice.turn)};
  const Point b{spacing * std::sin(lattice.turn + between), spacing * std::cos(lattice.turn + between)};
  // The diagonal spans at most this many steps; cells of the hexagonal lattice are lower than long.
  const auto most = static_cast<Index>(std::ceil((std::hypot(height, width) / 2 + border) / (spacing * 0.866))) + 1;
  std::vector<Site> sites;
  Random random = random_for(seed, Use::lattice);
  for (Index i = -most; i <= most; ++i)
    for (Index k = -most; k <= most; ++k) {
      const double m = static_cast<double>(i), n = static_cast<double>(k);
      Site site{height / 2 + m * a.row + n * b.row, width / 2 + m * a.col + n * b.col,
                (i + k) % 2 == 0 ? lattice.peak : lattice.second_peak};
      if (site.row < -border || site.row > height + border || site.col < -border || site.col > width + border) continue;
      // All three are drawn for every site, so that the others stay where they are when one goes missing.
      const double fate = random.uniform(), down = random.normal(), across = random.normal();
      if (fate < lattice.vacancies) continue;
      site.row += lattice.displacement * down;
      site.col += lattice.displacement * across;
      sites.push_back(site);
    }
  return sites;
}

Array band_limited_noise(const Grid& grid, double limit, std::uint64_t seed) {
  Array noise(Device::cpu(), {1, grid.rows, grid.cols}, DType::c128);
  const View<complex128, 2> waves = noise.view<complex128, 3>()[0];
  std::vector<double> white(static_cast<std::size_t>(waves.count()));
  draw_normal(stream_for(seed, Use::noise), white);
  std::copy(white.begin(), white.end(), waves.data);
  fourier(noise);
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) {
      const double k =
          std::hypot(frequency(row, grid.rows) / grid.pixel_row, frequency(col, grid.cols) / grid.pixel_col);
      if (k > limit || k == 0) waves(row, col) = 0;
    }
  inverse_fourier(noise);
  double squares = 0;
  for (Index i = 0; i < waves.count(); ++i) squares += waves.data[i].real() * waves.data[i].real();
  if (!(squares > 0))
    throw Error(ErrorKind::bad_input,
                fmt::format("no noise below {} 1/A on {} x {} pixels", limit, grid.rows, grid.cols));
  const double rms = std::sqrt(squares / static_cast<double>(waves.count()));
  Array result(Device::cpu(), {grid.rows, grid.cols}, DType::f64);
  const View<double, 2> map = result.view<double, 2>();
  for (Index i = 0; i < map.count(); ++i) map.data[i] = waves.data[i].real() / rms;
  return result;
}

void add_amorphous_patch(Array& phase, const Grid& grid, Point centre, double radius, double rms, std::uint64_t seed) {
  constexpr double limit = 0.5;  // 1/A: nothing in glass is closer than 2 A
  const Array noise = band_limited_noise(grid, limit, seed);
  const View<const double, 2> film = noise.view<double, 2>();
  const View<double, 2> map = phase.view<double, 2>();
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) {
      const double distance = std::hypot(static_cast<double>(row) * grid.pixel_row - centre.row,
                                         static_cast<double>(col) * grid.pixel_col - centre.col);
      map(row, col) += rms * film(row, col) * logistic(40 * (1 - distance / radius));
    }
}

void add_step(Array& phase, const Grid& grid, Point place, double angle, double height, double width) {
  const View<double, 2> map = phase.view<double, 2>();
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) {
      const double distance = (static_cast<double>(col) * grid.pixel_col - place.col) * std::cos(angle) +
                              (static_cast<double>(row) * grid.pixel_row - place.row) * std::sin(angle);
      map(row, col) += height * logistic(2 * distance / width);
    }
}

Array transmission(const Array& phase) {
  Array object(Device::cpu(), phase.shape(), DType::c128);
  const auto* angle = static_cast<const double*>(phase.data());
  auto* value = static_cast<complex128*>(object.data());
  for (Index i = 0; i < phase.count(); ++i) value[i] = std::polar(1.0, angle[i]);
  return object;
}

}  // namespace sonde::ptycho
