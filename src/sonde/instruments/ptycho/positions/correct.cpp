// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/positions/correct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/model/look_ahead.h"
#include "sonde/instruments/ptycho/positions/shifts.h"

namespace sonde::ptycho {
namespace {

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

/// The shift between the centres of two lists.
Affine mean_movement(std::span<const Point> from, std::span<const Point> to) {
  const auto n = static_cast<double>(from.size());
  Affine map;
  for (std::size_t i = 0; i < from.size(); ++i)
    map.offset = map.offset + Point{(to[i].row - from[i].row) / n, (to[i].col - from[i].col) / n};
  return map;
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
    const Point full = wanted[i] - whole.apply(initial_[frame]);
    Point moved = within(full, settings_.max_move);
    const Point before = state.positions[frame];
    Point after = initial_[frame] + moved;
    const Point kept = inside(after, window, rows, cols);
    if (!(moved == full) || !(kept == after)) ++report.at_limit;
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
