// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/engine/report/progress.h"

namespace sonde::neoclassical {
namespace {

/// The quantities whose harmonics are wanted. In a symmetric field the first three are even about (0, 0), the others
/// odd.
enum Quantity { field, jacobian, radius, height, shift, quantities };
constexpr bool is_odd(Index quantity) { return quantity >= height; }

/// A surface in VMEC's angles.
struct VmecSurface {
  double iota = 0, b_theta = 0, b_zeta = 0, b00 = 0;
  Series b, sqrt_g, lambda, w, r, z;
  [[nodiscard]] double g_iota_i() const { return b_zeta + iota * b_theta; }
};

/// The series of w with dw/dtheta = B_theta - I and dw/dzeta = B_zeta - G. B_theta decides where m > 0, B_zeta else:
/// they agree up to the equilibrium's own error.
Series potential(const Series& b_sub_theta, const Series& b_sub_zeta, int periods) {
  Series w;
  w.modes = b_sub_theta.modes;
  const std::size_t count = w.modes.size();
  w.cosine.assign(count, 0.0);
  w.sine.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [m, n] = w.modes[i];
    if (m == 0 && n == 0) continue;
    const Series& slope = m != 0 ? b_sub_theta : b_sub_zeta;
    const double factor = m != 0 ? m : n * periods;
    w.sine[i] = slope.cosine[i] / factor;
    if (!slope.sine.empty()) w.cosine[i] = -slope.sine[i] / factor;
  }
  return w;
}

/// R or Z of the full mesh at the node j + 1/2: the mean of its neighbours. Harmonics of odd m are divided by sqrt(s)
/// before; at the axis that quotient is 2 f_1 - f_2 for m = 1, a straight line through the next two, and 0 for the
/// others.
std::vector<double> at_half_node(const std::vector<double>& full, Index columns, const std::vector<Mode>& modes,
                                 Index j, Index ns) {
  const auto quotient = [&](std::size_t i, Index node) {
    const double value = full[i + static_cast<std::size_t>(node * columns)];
    return modes[i].m % 2 == 0 ? value : value / std::sqrt(static_cast<double>(node) / static_cast<double>(ns - 1));
  };
  const double root = std::sqrt((static_cast<double>(j) + 0.5) / static_cast<double>(ns - 1));
  std::vector<double> values(modes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool odd = modes[i].m % 2 != 0;
    double below = 0;
    if (!odd || j > 0)
      below = quotient(i, j);
    else if (modes[i].m == 1)
      below = 2 * quotient(i, 1) - quotient(i, 2);
    values[i] = (below + quotient(i, j + 1)) / 2 * (odd ? root : 1);
  }
  return values;
}

Series shape_at(const HarmonicTable& full, const std::vector<Mode>& modes, const RadialRule& rule) {
  Series sum;
  sum.modes = modes;
  sum.cosine.assign(modes.size(), 0.0);
  if (!full.sine.empty()) sum.sine.assign(modes.size(), 0.0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(rule.count); ++k) {
    const auto add = [&](const std::vector<double>& table, std::vector<double>& to) {
      if (table.empty()) return;
      const std::vector<double> row = at_half_node(table, full.columns, modes, rule.rows[k], full.rows);
      for (std::size_t i = 0; i < row.size(); ++i) to[i] += rule.weights[k] * row[i];
    };
    add(full.cosine, sum.cosine);
    add(full.sine, sum.sine);
  }
  return sum;
}

VmecSurface vmec_surface(const Wout& wout, double s) {
  const RadialRule rule = radial_rule(wout.s, s);
  const auto half = [&](const HarmonicTable& table) { return rule(table, wout.modes); };
  const Series b_sub_theta = half(wout.b_sub_theta), b_sub_zeta = half(wout.b_sub_zeta);
  VmecSurface surface;
  surface.iota = rule(wout.iota);
  surface.b_theta = b_sub_theta.cosine_of({0, 0});
  surface.b_zeta = b_sub_zeta.cosine_of({0, 0});
  surface.b = half(wout.b);
  surface.b00 = surface.b.cosine_of({0, 0});
  surface.sqrt_g = half(wout.jacobian);
  surface.lambda = rule(wout.lambda, wout.shape_modes);
  surface.w = potential(b_sub_theta, b_sub_zeta, wout.periods);
  surface.r = shape_at(wout.r, wout.shape_modes, rule);
  surface.z = shape_at(wout.z, wout.shape_modes, rule);
  return surface;
}

/// Points of the surface with their Boozer angles.
struct Points {
  std::vector<double> theta, zeta;  ///< Boozer angles
  std::array<std::vector<double>, quantities> values;
  std::vector<double> weight;  ///< of the sums: J times how often the point counts
  double total = 0;            ///< points of the whole grid
  double jacobian_defect = 0;
};

Points points_of(const VmecSurface& vmec, const AngleGrid& grid, bool asymmetric) {
  // A symmetric field has the same terms at (-theta, -zeta): half the range of theta, its inner rows twice.
  const Index rows = asymmetric ? grid.n_theta : grid.n_theta / 2 + 1;
  const SeriesOnGrid b = on_grid(vmec.b, grid, rows), sqrt_g = on_grid(vmec.sqrt_g, grid, rows);
  const SeriesOnGrid w = on_grid(vmec.w, grid, rows), lambda = on_grid(vmec.lambda, grid, rows);
  Points points;
  points.values[field] = b.value;
  points.values[radius] = on_grid(vmec.r, grid, rows).value;
  points.values[height] = on_grid(vmec.z, grid, rows).value;
  points.total = static_cast<double>(grid.count());
  const std::size_t count = b.value.size();
  for (auto* list : {&points.theta, &points.zeta, &points.weight, &points.values[jacobian], &points.values[shift]})
    list->resize(count);
  std::vector<double> constant(count);  // sqrt(g_B) B^2 / (G + iota I)
  const double current = vmec.b_theta, g_iota_i = vmec.g_iota_i(), iota = vmec.iota;
  double sum = 0, weights = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto i = static_cast<Index>(at) / grid.n_zeta, j = static_cast<Index>(at) % grid.n_zeta;
    const double p = (w.value[at] - current * lambda.value[at]) / g_iota_i;
    const double p_theta = (w.by_theta[at] - current * lambda.by_theta[at]) / g_iota_i;
    const double p_zeta = (w.by_zeta[at] - current * lambda.by_zeta[at]) / g_iota_i;
    points.theta[at] = grid.theta(i) + lambda.value[at] + iota * p;
    points.zeta[at] = grid.zeta(j) + p;
    points.values[shift][at] = p;
    const double turn = (1 + lambda.by_theta[at]) * (1 + p_zeta) + (iota - lambda.by_zeta[at]) * p_theta;
    const double times = asymmetric || i == 0 || 2 * i == grid.n_theta ? 1 : 2;
    points.weight[at] = times * turn;
    const double b2 = b.value[at] * b.value[at];
    points.values[jacobian][at] = g_iota_i / b2;
    constant[at] = sqrt_g.value[at] / turn * b2 / g_iota_i;
    sum += times * constant[at];
    weights += times;
  }
  for (const double value : constant)
    points.jacobian_defect = std::max(points.jacobian_defect, std::abs(value / (sum / weights) - 1));
  return points;
}

using Matrix = dense::Matrix<double>;

/// cos and sin of m theta and n zeta at a block of points, from angle to angle by the addition theorem.
class Waves {
 public:
  Waves(int modes, Index points) : modes_(modes), points_(points), cosine_(size()), sine_(size()) {}

  void set(std::span<const double> angles, int step) {
    for (std::size_t p = 0; p < angles.size(); ++p) {
      cosine_[p] = 1;
      sine_[p] = 0;
    }
    if (modes_ < 2) return;
    const auto width = static_cast<std::size_t>(points_);
    for (std::size_t p = 0; p < angles.size(); ++p) {
      cosine_[width + p] = std::cos(step * angles[p]);
      sine_[width + p] = std::sin(step * angles[p]);
    }
    const double *c1 = &cosine_[width], *s1 = &sine_[width];
    for (int m = 2; m < modes_; ++m) {
      const std::size_t now = static_cast<std::size_t>(m) * width, before = now - width;
      for (std::size_t p = 0; p < angles.size(); ++p) {
        cosine_[now + p] = cosine_[before + p] * c1[p] - sine_[before + p] * s1[p];
        sine_[now + p] = sine_[before + p] * c1[p] + cosine_[before + p] * s1[p];
      }
    }
  }
  /// [mode][point]
  [[nodiscard]] Matrix cosine(Index points) { return view(cosine_, points); }
  [[nodiscard]] Matrix sine(Index points) { return view(sine_, points); }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(modes_ * points_); }
  [[nodiscard]] Matrix view(std::vector<double>& data, Index points) const {
    Matrix matrix(data.data(), modes_, points_);
    matrix.extent[1] = points;
    return matrix;
  }

  Index modes_, points_;
  std::vector<double> cosine_, sine_;
};

/// The transform of one surface; scratch for the next.
class Transform {
 public:
  Transform(const Wout& wout, BoozerResolution resolution)
      : wout_(wout),
        mboz_(resolution.mboz),
        nboz_(resolution.nboz),
        m_waves_(mboz_, block),
        n_waves_(nboz_ + 1, block),
        products_(static_cast<std::size_t>(columns() * block)),
        with_cosine_(static_cast<std::size_t>(mboz_ * columns())),
        with_sine_(with_cosine_.size()),
        partial_(static_cast<std::size_t>(mboz_ * block)) {}

  /// The modes in the order of BOOZ_XFORM, n as in Mode (phase m theta + n zeta).
  static std::vector<Mode> modes(BoozerResolution resolution) {
    std::vector<Mode> modes;
    for (int m = 0; m < resolution.mboz; ++m)
      for (int n = m == 0 ? 0 : -resolution.nboz; n <= resolution.nboz; ++n) modes.push_back({m, -n});
    return modes;
  }

  /// Writes row `row` of the tables.
  void run(double s, Index row, BoozerFile& file) {
    const VmecSurface vmec = vmec_surface(wout_, s);
    const AngleGrid grid{2 * (2 * mboz_ + 1), nboz_ == 0 && wout_.ntor == 0 ? 1 : 2 * (2 * nboz_ + 1), wout_.periods};
    const Points points = points_of(vmec, grid, wout_.asymmetric);
    sum(points);
    std::array<HarmonicTable*, quantities> tables{&file.b, &file.jacobian, &file.r, &file.z, &file.zeta_shift};
    for (int q = 0; q < quantities; ++q) store(q, points.total, row, *tables[static_cast<std::size_t>(q)]);
    file.jacobian_defect[static_cast<std::size_t>(row)] = points.jacobian_defect;
    file.largest_defect[static_cast<std::size_t>(row)] = defect(points, file.b, row) / vmec.b00;
  }

 private:
  static constexpr Index block = 256;  // points at a time: waves and products stay in the second-level cache

  [[nodiscard]] Index width() const { return nboz_ + 1; }
  /// Columns of the products of every quantity with cos(n zeta) and sin(n zeta): first those whose sum with
  /// cos(m theta) counts in a symmetric field (even with cos, odd with sin), then those with sin(m theta).
  [[nodiscard]] Index columns() const { return 2 * quantities * width(); }
  [[nodiscard]] Index column(Index quantity, bool sine) const {
    return ((is_odd(quantity) != sine ? quantities : 0) + quantity) * width();
  }
  [[nodiscard]] Matrix with_cosine() {
    return {with_cosine_.data(), mboz_, wout_.asymmetric ? columns() : columns() / 2};
  }
  /// Its column 0 is that of first_with_sine().
  [[nodiscard]] Matrix with_sine() { return {with_sine_.data(), mboz_, wout_.asymmetric ? columns() : columns() / 2}; }
  [[nodiscard]] Index first_with_sine() const { return wout_.asymmetric ? 0 : columns() / 2; }

  void set_waves(const Points& points, Index first, Index count) {
    const auto part = [&](const std::vector<double>& list) {
      return std::span(list).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    };
    m_waves_.set(part(points.theta), 1);
    n_waves_.set(part(points.zeta), wout_.periods);
  }

  /// with_cosine()[m][column] = sum over points of cos(m theta) X cos/sin(n zeta), with_sine() the same of sin(m
  /// theta).
  void sum(const Points& points) {
    const auto count = static_cast<Index>(points.theta.size());
    for (Index first = 0; first < count; first += block) {
      const Index size = std::min(block, count - first);
      set_waves(points, first, size);
      for (Index q = 0; q < quantities; ++q) multiply_waves(points, q, first, size);
      const auto products = [&](Index from, Index number) {
        Matrix part(products_.data() + from * block, number, block);
        part.extent[1] = size;
        return part;
      };
      const double before = first == 0 ? 0 : 1;
      const Matrix cosines = with_cosine(), sines = with_sine();
      dense::multiply(1, m_waves_.cosine(size), dense::Form::plain, products(0, cosines.extent[1]),
                      dense::Form::transposed, before, cosines);
      dense::multiply(1, m_waves_.sine(size), dense::Form::plain, products(first_with_sine(), sines.extent[1]),
                      dense::Form::transposed, before, sines);
    }
  }
  /// The products of a quantity and its weights with the waves in zeta.
  void multiply_waves(const Points& points, Index quantity, Index first, Index size) {
    const double* value = &points.values[static_cast<std::size_t>(quantity)][static_cast<std::size_t>(first)];
    const double* weight = &points.weight[static_cast<std::size_t>(first)];
    std::array<double, block> weighted{};
    for (Index p = 0; p < size; ++p) weighted[static_cast<std::size_t>(p)] = value[p] * weight[p];
    for (const bool sine : {false, true}) {
      const Matrix waves = sine ? n_waves_.sine(size) : n_waves_.cosine(size);
      for (Index n = 0; n < width(); ++n) {
        const double* wave = waves.data + n * block;
        double* product = products_.data() + (column(quantity, sine) + n) * block;
        for (Index p = 0; p < size; ++p) product[p] = weighted[static_cast<std::size_t>(p)] * wave[p];
      }
    }
  }

  /// cos(m theta - n zeta) = cos cos + sin sin, sin(m theta - n zeta) = sin cos - cos sin.
  void store(Index quantity, double total, Index row, HarmonicTable& table) {
    const Matrix cosines = with_cosine(), sines = with_sine();
    const Index cos_n = column(quantity, false), sin_n = column(quantity, true), shifted = first_with_sine();
    auto at = static_cast<std::size_t>(row * table.columns);
    for (Index m = 0; m < mboz_; ++m)
      for (Index n = m == 0 ? 0 : -nboz_; n <= nboz_; ++n, ++at) {
        const double factor = (m == 0 && n == 0 ? 1 : 2) / total, sign = n < 0 ? -1 : 1;
        const Index size = std::abs(n);
        if (!table.cosine.empty())
          table.cosine[at] = factor * (cosines(m, cos_n + size) + sign * sines(m, sin_n + size - shifted));
        if (!table.sine.empty())
          table.sine[at] = factor * (sines(m, cos_n + size - shifted) - sign * cosines(m, sin_n + size));
      }
  }

  /// max |B(theta_B, zeta_B) - B| over the points.
  double defect(const Points& points, const HarmonicTable& table, Index row) {
    // B = sum over m of cos(m theta) (even_c cos + odd_c sin) + sin(m theta) (even_s cos + odd_s sin), by n >= 0.
    const Index n_count = width();
    std::array<std::vector<double>, 4> parts;  // cos cos, cos sin, sin cos, sin sin
    for (auto& part : parts) part.assign(static_cast<std::size_t>(mboz_ * n_count), 0.0);
    auto at = static_cast<std::size_t>(row * table.columns);
    for (Index m = 0; m < mboz_; ++m)
      for (Index n = m == 0 ? 0 : -nboz_; n <= nboz_; ++n, ++at) {
        const auto place = static_cast<std::size_t>(m * n_count + std::abs(n));
        const double sign = n < 0 ? -1 : 1, c = table.cosine[at], s = table.sine.empty() ? 0 : table.sine[at];
        parts[0][place] += c;
        parts[1][place] -= sign * s;
        parts[2][place] += s;
        parts[3][place] += sign * c;
      }
    const auto count = static_cast<Index>(points.theta.size());
    double largest = 0;
    std::vector<double> sum(static_cast<std::size_t>(block));
    for (Index first = 0; first < count; first += block) {
      const Index size = std::min(block, count - first);
      set_waves(points, first, size);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t half = 0; half < 2; ++half) {
        Matrix partial(partial_.data(), mboz_, block);
        partial.extent[1] = size;
        const auto part = [&](std::size_t i) { return Matrix(parts[2 * half + i].data(), mboz_, n_count); };
        dense::multiply(1, part(0), dense::Form::plain, n_waves_.cosine(size), dense::Form::plain, 0, partial);
        dense::multiply(1, part(1), dense::Form::plain, n_waves_.sine(size), dense::Form::plain, 1, partial);
        const Matrix wave = half == 0 ? m_waves_.cosine(size) : m_waves_.sine(size);
        for (Index m = 0; m < mboz_; ++m)
          for (Index p = 0; p < size; ++p) sum[static_cast<std::size_t>(p)] += wave(m, p) * partial(m, p);
      }
      for (Index p = 0; p < size; ++p)
        largest = std::max(largest, std::abs(sum[static_cast<std::size_t>(p)] -
                                             points.values[field][static_cast<std::size_t>(first + p)]));
    }
    return largest;
  }

  const Wout& wout_;
  int mboz_, nboz_;
  Waves m_waves_, n_waves_;
  std::vector<double> products_, with_cosine_, with_sine_, partial_;
};

void check(const Wout& wout, const std::vector<double>& s, BoozerResolution resolution) {
  constexpr int most = 1000;
  if (resolution.mboz < 1 || resolution.mboz > most || resolution.nboz < 0 || resolution.nboz > most)
    throw Error(ErrorKind::bad_input, fmt::format("mboz = {}, nboz = {}: expected 1 to {} and 0 to {}", resolution.mboz,
                                                  resolution.nboz, most, most));
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (!(s[i] > 0 && s[i] <= 1))
      throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", wout.path, s[i]));
    if (i > 0 && !(s[i] > s[i - 1]))
      throw Error(ErrorKind::bad_input, fmt::format("the radii do not increase: s = {} after {}", s[i], s[i - 1]));
  }
}

HarmonicTable table_of(Index rows, Index columns, bool even, bool asymmetric) {
  const auto size = static_cast<std::size_t>(rows * columns);
  HarmonicTable table{rows, columns, {}, {}};
  if (even || asymmetric) table.cosine.assign(size, 0.0);
  if (!even || asymmetric) table.sine.assign(size, 0.0);
  return table;
}

}  // namespace

BoozerResolution default_resolution(const Wout& wout) { return {6 * wout.mpol, 2 * wout.ntor}; }

BoozerFile boozer_transform(const Wout& wout, std::vector<double> s, BoozerResolution resolution, Notes& notes) {
  if (s.empty()) s = wout.s;
  check(wout, s, resolution);
  BoozerFile file;
  file.path = wout.path;
  file.periods = wout.periods;
  file.sign_jacobian = wout.sign_jacobian;
  file.asymmetric = wout.asymmetric;
  file.psi_a = wout.psi_a;
  file.major_radius = wout.major_radius;
  file.minor_radius = wout.minor_radius;
  file.profile_s = wout.s;
  file.iota = wout.iota;
  file.pressure = wout.pressure;
  file.beta = wout.beta;
  for (const double node : wout.s) {
    const RadialProfile profile = profile_at(wout, node);
    file.b_theta.push_back(profile.b_theta);
    file.b_zeta.push_back(profile.b_zeta);
  }
  file.ns = wout.ns;
  file.mboz = resolution.mboz;
  file.nboz = resolution.nboz;
  file.aspect = wout.aspect;
  file.r_max = wout.r_max;
  file.r_min = wout.r_min;
  file.beta_axis = wout.beta_axis;

  file.s = s;
  file.modes = Transform::modes(resolution);
  const auto rows = static_cast<Index>(s.size()), columns = static_cast<Index>(file.modes.size());
  for (HarmonicTable* table : {&file.b, &file.r, &file.jacobian})
    *table = table_of(rows, columns, true, wout.asymmetric);
  for (HarmonicTable* table : {&file.z, &file.zeta_shift}) *table = table_of(rows, columns, false, wout.asymmetric);
  file.largest_defect.resize(s.size());
  file.jacobian_defect.resize(s.size());
  PerWorker<std::optional<Transform>> transforms;
  ProgressMeter progress("transforming", rows, "surfaces");
  parallel_for(rows, 1, [&](Index first, Index last, Worker& worker) {
    std::optional<Transform>& transform = transforms[worker];
    if (!transform) transform.emplace(wout, resolution);
    for (Index row = first; row < last; ++row) {
      check_interrupt();
      transform->run(s[static_cast<std::size_t>(row)], row, file);
      progress.advance();
    }
  });

  constexpr double tolerable = 1e-4;
  const auto tell = [&](const std::vector<double>& defects, const char* what) {
    const auto worst = std::max_element(defects.begin(), defects.end());
    if (*worst > tolerable)
      notes.push_back(
          fmt::format("{} by {:.2g} at s = {:.6g}: a higher mboz, nboz or a better converged equilibrium helps", what,
                      *worst, s[static_cast<std::size_t>(worst - defects.begin())]));
  };
  tell(file.largest_defect, "|B| of the Boozer harmonics differs from that of the equilibrium");
  tell(file.jacobian_defect, "sqrt(g) B^2 in Boozer angles departs from its mean");
  return file;
}

std::vector<double> on_half_mesh(const Wout& wout, const std::vector<double>& s, Notes& notes) {
  std::vector<double> nodes;
  for (const double asked : s) {
    if (!(asked > 0 && asked <= 1))
      throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", wout.path, asked));
    const double node = *std::min_element(
        wout.s.begin(), wout.s.end(), [&](double a, double b) { return std::abs(a - asked) < std::abs(b - asked); });
    constexpr double same_radius = 1e-7;
    if (std::abs(node - asked) > same_radius)
      notes.push_back(fmt::format("s = {:.6g} is taken at the nearest surface of the half mesh, {:.6g}", asked, node));
    nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace sonde::neoclassical
