// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/correct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/philox.h"
#include "sonde/instruments/ptycho/model/look_ahead.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

Point operator+(Point a, Point b) { return {a.row + b.row, a.col + b.col}; }
Point operator-(Point a, Point b) { return {a.row - b.row, a.col - b.col}; }

/// Shortened to a length of at most `most`.
Point within(Point step, double most) {
  const double length = std::hypot(step.row, step.col);
  return length > most ? Point{step.row * most / length, step.col * most / length} : step;
}

/// The place nearest to `at` whose whole window lies inside an object of rows x cols, a little less for rounding.
Point inside(Point at, Window window, Index rows, Index cols) {
  const auto clamped = [](double value, Index n, Index all) {
    return std::clamp(value, static_cast<double>(n / 2), static_cast<double>(all - n + n / 2) - 0.01);
  };
  return {clamped(at.row, window.rows, rows), clamped(at.col, window.cols, cols)};
}

/// Where a parabola through three equally spaced values has its lowest point, in steps from the middle one, at most
/// one; the middle when a neighbour is infinite, as errors outside of the object are.
double lowest(double below, double middle, double above) {
  if (std::isinf(below) || std::isinf(above)) return 0;
  const double curvature = below - 2 * middle + above;
  return curvature > 0 ? std::clamp((below - above) / (2 * curvature), -1.0, 1.0) : 0;
}

/// The shift between the centres of two lists.
Affine mean_movement(std::span<const Point> from, std::span<const Point> to) {
  const auto n = static_cast<double>(from.size());
  Affine map;
  for (std::size_t i = 0; i < from.size(); ++i)
    map.offset = map.offset + Point{(to[i].row - from[i].row) / n, (to[i].col - from[i].col) / n};
  return map;
}

void operator+=(PositionSums& sums, PositionSums share) {
  sums.yy += share.yy;
  sums.yx += share.yx;
  sums.xx += share.xx;
  sums.by += share.by;
  sums.bx += share.bx;
}

}  // namespace

std::string_view name(PositionMethod method) {
  switch (method) {
    case PositionMethod::none:
      return "none";
    case PositionMethod::gradient:
      return "gradient";
    case PositionMethod::annealing:
      return "annealing";
    case PositionMethod::grid:
      return "grid";
    case PositionMethod::xcorr:
      return "xcorr";
  }
  return "";
}

void PositionSettings::describe(Fields& fields) {
  fields.choice("method", method,
                {{"none", PositionMethod::none},
                 {"gradient", PositionMethod::gradient},
                 {"annealing", PositionMethod::annealing},
                 {"grid", PositionMethod::grid},
                 {"xcorr", PositionMethod::xcorr}},
                {.help = "how positions are corrected"});
  fields.add("start", start, {.help = "first iteration that corrects", .min = 1});
  fields.add("every", every, {.help = "iterations between corrections", .min = 1});
  fields.add("stop", stop, {.help = "last iteration that corrects; 0: the last of the run", .min = 0});
  fields.add("step", step, {.help = "gradient and xcorr: share of the found shift that is taken", .min = 0, .max = 2});
  fields.add("max_step_px", max_step, {.help = "largest shift in one correction", .unit = "px", .min = 0});
  fields.add("max_move_px", max_move, {.help = "largest shift in all", .unit = "px", .min = 0});
  fields.choice(
      "affine", affine, {{"free", ScanDistortion::free}, {"held", ScanDistortion::held}},
      {.help = "stretch, rotation and shear of the whole scan: free are found with the rest, held stay as the "
               "file says"});
  fields.add("trials", trials, {.help = "annealing: random shifts that are tried", .min = 1, .max = 64});
  fields.add("radius_px", radius,
             {.help = "annealing: radius of the first disk; grid: half its side", .unit = "px", .min = 0});
}

template <class Real>
PositionCorrection<Real>::PositionCorrection(const PositionSettings& settings, std::vector<Point> initial,
                                             const Workbench<Real>& bench)
    : settings_(settings),
      initial_(std::move(initial)),
      exposures_([&] { return Exposure<Real>(bench.model()); }),
      rooms_([&] {
        return std::vector<Complex>(static_cast<std::size_t>(2 * bench.model().modes() * bench.model().pixels()));
      }) {
  gain_ = Array(Device::cpu(), Shape{1}, DType::f64);
  gain_.view<double, 1>()[0] = 10;
  last_steps_ = Array::zeros(Device::cpu(), Shape{static_cast<Index>(initial_.size()), 2}, DType::f64);
}

template <class Real>
bool PositionCorrection<Real>::due(Index iteration) const {
  return settings_.method != PositionMethod::none && iteration >= settings_.start &&
         (settings_.stop == 0 || iteration <= settings_.stop) && (iteration - settings_.start) % settings_.every == 0;
}

/// Through several slices the derivative goes the way of the wave.
template <class Real>
PositionSums PositionCorrection<Real>::sums(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                            std::vector<Complex>& room) const {
  const Model<Real>& model = bench.model();
  const Index pixels = model.pixels(), count = model.modes() * pixels;
  exposure.forward(bench.state(), bench.spectrum(), frame);
  Complex *down = room.data(), *across = down + count;
  exposure.differentiate(bench.spectrum(), down, across);
  exposure.propagate(down);
  exposure.propagate(across);
  const Real* measured = exposure.amplitudes(frame);
  const Real* weights = model.measurement().template weights<Real>();
  const Complex* psi = exposure.waves();
  const double unit = 1 / std::sqrt(static_cast<double>(pixels));  // the transforms do not scale
  PositionSums sums;
  for (Index i = 0; i < pixels; ++i) {
    if (weights != nullptr && weights[i] == 0) continue;
    Real intensity = 0, dy = 0, dx = 0;
    for (Index m = 0; m < model.modes(); ++m) {
      const Complex p = psi[m * pixels + i], y = down[m * pixels + i], x = across[m * pixels + i];
      intensity += std::norm(p);
      dy += p.real() * y.real() + p.imag() * y.imag();
      dx += p.real() * x.real() + p.imag() * x.imag();
    }
    sums += position_share(intensity, dy, dx, unit, measured[i]);
  }
  return sums;
}

/// The step that the sums ask for; none without light.
template <class Real>
Point PositionCorrection<Real>::gradient(PositionSums sums) const {
  const double damping = 0.01 * (sums.yy + sums.xx), yy = sums.yy + damping, xx = sums.xx + damping;
  const double determinant = yy * xx - sums.yx * sums.yx;
  if (!(determinant > 0)) return {};
  return {settings_.step * (sums.by * xx - sums.bx * sums.yx) / determinant,
          settings_.step * (sums.bx * yy - sums.by * sums.yx) / determinant};
}

template <class Real>
double PositionCorrection<Real>::error_at(Workbench<Real>& bench, Index frame, Point shift,
                                          Exposure<Real>& exposure) const {
  const State& state = bench.state();
  const Window window = state.window();
  const Placement at = place(state.positions[static_cast<std::size_t>(frame)] + shift, window);
  if (at.row < 0 || at.col < 0 || at.row + window.rows > state.object.shape()[1] ||
      at.col + window.cols > state.object.shape()[2])
    return std::numeric_limits<double>::infinity();
  exposure.forward(state, bench.spectrum(), frame, at);
  return exposure.residual(frame, /*change=*/false).amplitude_error2;
}

template <class Real>
Point PositionCorrection<Real>::annealed(Workbench<Real>& bench, Index frame, double radius, std::uint64_t iteration,
                                         Exposure<Real>& exposure) const {
  Point best{};
  double least = error_at(bench, frame, best, exposure);
  for (Index trial = 0; trial < settings_.trials; ++trial) {
    const auto bits =
        philox({static_cast<std::uint32_t>(frame), static_cast<std::uint32_t>(trial),
                static_cast<std::uint32_t>(iteration), 0x705},
               {static_cast<std::uint32_t>(bench.seed()), static_cast<std::uint32_t>(bench.seed() >> 32)});
    // Uniform in the disk.
    const double r = radius * std::sqrt(unit_interval(bits[0], bits[1]));
    const double angle = 2 * std::numbers::pi * unit_interval(bits[2], bits[3]);
    const Point shift{r * std::sin(angle), r * std::cos(angle)};
    const double error = error_at(bench, frame, shift, exposure);
    if (error < least) {
      least = error;
      best = shift;
    }
  }
  return best;
}

template <class Real>
Point PositionCorrection<Real>::searched(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure) const {
  const double side = settings_.radius / 2;
  Point best{};
  double least = error_at(bench, frame, best, exposure);
  for (int row = -2; row <= 2; ++row)
    for (int col = -2; col <= 2; ++col) {
      if (row == 0 && col == 0) continue;
      const Point shift{row * side, col * side};
      const double error = error_at(bench, frame, shift, exposure);
      if (error < least) {
        least = error;
        best = shift;
      }
    }
  const double row = lowest(error_at(bench, frame, best - Point{side, 0}, exposure), least,
                            error_at(bench, frame, best + Point{side, 0}, exposure));
  const double col = lowest(error_at(bench, frame, best - Point{0, side}, exposure), least,
                            error_at(bench, frame, best + Point{0, side}, exposure));
  return best + Point{row * side, col * side};
}

/// With the frame at r + e instead of r its update draws what lies under it by -e.
template <class Real>
Point PositionCorrection<Real>::correlated(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                           std::vector<Complex>& room) const {
  const Model<Real>& model = bench.model();
  const Index pixels = model.pixels(), rows = model.rows(), cols = model.cols();
  exposure.forward(bench.state(), bench.spectrum(), frame);
  exposure.residual(frame);
  exposure.back();
  const Complex *probe = exposure.incident(0), *chi = exposure.waves();
  const Real largest = cpu::largest_norm<Real>(probe, model.modes(), pixels);
  const auto window = exposure.window(0);
  // Both patches weighted with the light on them, less their mean: a constant has no shift.
  Complex *before = room.data(), *after = before + pixels;
  std::complex<double> sum_before = 0, sum_after = 0, sum_light = 0;
  std::vector<Real> light(static_cast<std::size_t>(pixels));
  for (Index i = 0; i < pixels; ++i) {
    const Complex o = window(i / cols, i % cols);
    Complex step{};
    Real norm = 0;
    for (Index m = 0; m < model.modes(); ++m) {
      step += std::conj(probe[m * pixels + i]) * chi[m * pixels + i];
      norm += std::norm(probe[m * pixels + i]);
    }
    light[static_cast<std::size_t>(i)] = std::sqrt(norm);
    before[i] = o;
    after[i] = o + step / largest;
    sum_before += std::complex<double>(before[i]) * static_cast<double>(std::sqrt(norm));
    sum_after += std::complex<double>(after[i]) * static_cast<double>(std::sqrt(norm));
    sum_light += static_cast<double>(std::sqrt(norm));
  }
  for (Index i = 0; i < pixels; ++i) {
    const Real w = light[static_cast<std::size_t>(i)];
    before[i] = w * (before[i] - Complex(sum_before / sum_light));
    after[i] = w * (after[i] - Complex(sum_after / sum_light));
  }
  model.fft().transform(before, FftDirection::forward);
  model.fft().transform(after, FftDirection::forward);
  for (Index i = 0; i < pixels; ++i) after[i] *= std::conj(before[i]);
  model.fft().transform(after, FftDirection::inverse);
  // The peak lies at zero or next to it; a parabola through the neighbours gives the part of a pixel.
  const auto value = [&](Index row, Index col) {
    return -static_cast<double>(std::abs(after[((row + rows) % rows) * cols + (col + cols) % cols]));
  };
  const Point shift{lowest(value(-1, 0), value(0, 0), value(1, 0)), lowest(value(0, -1), value(0, 0), value(0, 1))};
  const double gain = gain_.view<double, 1>()[0];
  return {-settings_.step * gain * shift.row, -settings_.step * gain * shift.col};
}

/// Corrections that go on in their direction may be larger, those that turn back were too large.
template <class Real>
void PositionCorrection<Real>::adapt_gain(const std::vector<Index>& frames, const std::vector<Point>& steps) {
  const auto last = last_steps_.view<double, 2>();
  double along = 0, now = 0, before = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double &row = last(frames[i], 0), &col = last(frames[i], 1);
    along += steps[i].row * row + steps[i].col * col;
    now += steps[i].row * steps[i].row + steps[i].col * steps[i].col;
    before += row * row + col * col;
    row = steps[i].row;
    col = steps[i].col;
  }
  if (!(now > 0) || !(before > 0)) return;
  const double agreement = along / std::sqrt(now * before);
  double& gain = gain_.view<double, 1>()[0];
  if (agreement > 0.3) gain *= 1.1;
  if (agreement < -0.3) gain *= 0.9;
}

template <class Real>
std::vector<Point> PositionCorrection<Real>::steps_there(Workbench<Real>& bench, DevicePass<Real>& there) const {
  if (!has_kernels(settings_.method))
    throw Error(ErrorKind::internal, fmt::format("no kernels correct positions by {}", name(settings_.method)));
  std::vector<Point> steps;
  for (const PositionSums& sums : there.position_sums(bench.active()))
    steps.push_back(within(gradient(sums), settings_.max_step));
  return steps;
}

template <class Real>
std::vector<Point> PositionCorrection<Real>::steps_here(Workbench<Real>& bench, Index iteration, Index last) {
  const std::vector<Index>& active = bench.active();
  const Index stop = settings_.stop > 0 ? settings_.stop : last;
  const double left =
      static_cast<double>(stop - iteration + 1) / static_cast<double>(std::max<Index>(1, stop - settings_.start + 1));
  std::vector<Point> steps(active.size());
  parallel_for(static_cast<Index>(active.size()), 1, [&](Index first, Index end, Worker& worker) {
    for (Index i = first; i < end; ++i) {
      const Index frame = active[static_cast<std::size_t>(i)];
      check_interrupt();
      look_ahead(active, i, [&](std::span<const Index> frames) { bench.model().measurement().will_read(frames); });
      Exposure<Real>& exposure = exposures_[worker];
      Point step{};
      switch (settings_.method) {
        case PositionMethod::gradient:
          step = gradient(sums(bench, frame, exposure, rooms_[worker]));
          break;
        case PositionMethod::annealing:
          step = annealed(bench, frame, settings_.radius * left, static_cast<std::uint64_t>(iteration), exposure);
          break;
        case PositionMethod::grid:
          step = searched(bench, frame, exposure);
          break;
        case PositionMethod::xcorr:
          step = correlated(bench, frame, exposure, rooms_[worker]);
          break;
        case PositionMethod::none:
          break;
      }
      const bool local = settings_.method == PositionMethod::gradient || settings_.method == PositionMethod::xcorr;
      steps[static_cast<std::size_t>(i)] = local ? within(step, settings_.max_step) : step;
    }
  });
  if (settings_.method == PositionMethod::xcorr) adapt_gain(active, steps);
  return steps;
}

template <class Real>
PositionReport PositionCorrection<Real>::correct(Workbench<Real>& bench, Index iteration, Index last) {
  DevicePass<Real>* there = bench.device_pass();
  const PositionReport report =
      move(bench, there != nullptr ? steps_there(bench, *there) : steps_here(bench, iteration, last));
  bench.positions_changed();
  return report;
}

template <class Real>
PositionReport PositionCorrection<Real>::move(Workbench<Real>& bench, const std::vector<Point>& steps) {
  State& state = bench.state();
  const Window window = state.window();
  const Index rows = state.object.shape()[1], cols = state.object.shape()[2];
  PositionReport report;
  const std::vector<Index>& active = bench.active();
  std::vector<Point> wanted, from, to;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const auto frame = static_cast<std::size_t>(active[i]);
    from.push_back(initial_[frame]);
    wanted.push_back(state.positions[frame] + steps[i]);
  }
  // The mean of all movement since the start is taken out: object and positions would drift together.
  const Affine whole =
      settings_.affine == ScanDistortion::held ? fit_affine(from, wanted) : mean_movement(from, wanted);
  for (std::size_t i = 0; i < active.size(); ++i) {
    const auto frame = static_cast<std::size_t>(active[i]);
    const Point wished = wanted[i] - whole.apply(initial_[frame]);
    Point moved = within(wished, settings_.max_move);
    const Point before = state.positions[frame];
    Point after = initial_[frame] + moved;
    const Point kept = inside(after, window, rows, cols);
    if (!(moved == wished) || !(kept == after)) ++report.at_limit;
    after = kept;
    report.largest_move = std::max(report.largest_move, std::hypot(after.row - before.row, after.col - before.col));
    state.positions[frame] = after;
    to.push_back(after);
  }
  report.affine = fit_affine(from, to);
  std::vector<bool> own(state.positions.size(), false);
  for (const Index frame : active) own[static_cast<std::size_t>(frame)] = true;
  for (std::size_t frame = 0; frame < own.size(); ++frame)
    if (!own[frame]) state.positions[frame] = inside(report.affine.apply(initial_[frame]), window, rows, cols);
  state.placements = place_all(state.positions, window);
  return report;
}

template class PositionCorrection<float>;
template class PositionCorrection<double>;

}  // namespace sonde::ptycho
