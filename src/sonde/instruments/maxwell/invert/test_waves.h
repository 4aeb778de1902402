// SPDX-License-Identifier: Apache-2.0
// For tests: operators that are cheap, and exact in value and gradient.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "sonde/instruments/maxwell/grid/coefficients.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/invert/test_invert.h"
#include "sonde/instruments/maxwell/invert/wave_operator.h"
#include "sonde/instruments/maxwell/propagate/reference.h"

namespace sonde::maxwell::testing {

/// record() and gradient() shot by shot, from what one shot does.
class ShotByShot : public WaveOperator {
 public:
  void record(const Model& model, std::span<const ShotSignals> shots,
              const std::function<void(Index, const Gather&)>& take) override {
    for (const ShotSignals& each : shots) take(each.shot, forward(model, each));
  }
  MisfitGradient gradient(const Model& model, std::span<const ShotSignals> shots, const ShotMisfit& misfit,
                          Illumination illumination) override {
    MisfitGradient sums;
    const auto cells = static_cast<std::size_t>(grid().count());
    sums.gradient = {std::vector<double>(cells), std::vector<double>(cells), {}};
    if (illumination == Illumination::summed) sums.illumination = sums.gradient;
    for (const ShotSignals& each : shots) {
      const RecordMisfit found = misfit(each.shot, forward(model, each));
      sums.value += found.value;
      sums.squares += found.squares;
      backward(model, each, found.residual, sums);
    }
    return sums;
  }

  ModelChange gauss_newton(const Model& model, std::span<const ShotSignals> shots, const ModelChange& change,
                           const ShotWeighting& weighting) override {
    MisfitGradient sums;
    const auto cells = static_cast<std::size_t>(grid().count());
    sums.gradient = {std::vector<double>(cells), std::vector<double>(cells), {}};
    for (const ShotSignals& each : shots) backward(model, each, weighting(each.shot, born(model, each, change)), sums);
    return sums.gradient;
  }

  /// What would be measured in a model, with the sources of every shot.
  std::vector<Gather> measured(const Model& model, const std::vector<std::vector<double>>& amplitudes) {
    std::vector<Gather> made;
    for (Index s = 0; s < shots(); ++s) made.push_back(forward(model, {s, amplitudes[static_cast<std::size_t>(s)]}));
    return made;
  }

 private:
  virtual Gather forward(const Model& model, const ShotSignals& signals) = 0;
  virtual Gather born(const Model& model, const ShotSignals& signals, const ModelChange& change) = 0;
  /// Adds to gradient and, unless empty, illumination.
  virtual void backward(const Model& model, const ShotSignals& signals, const std::vector<double>& residual,
                        MisfitGradient& sums) = 0;
};

/// Records that are the source convolved with responses of a few samples, each a sum over cells of random numbers times
/// eps_r + bend eps_r^2, and of others times 100 sigma.
class ConvolvedWaves : public ShotByShot {
 public:
  static constexpr Index cell_count = 8, shot_count = 6, receiver_count = 3, lags = 10, step_count = 40;

  explicit ConvolvedWaves(double bend = 0) : bend_(bend) {}
  [[nodiscard]] CellGrid grid() const override { return {{1, 1, cell_count}, {1, 1, 0.1}}; }
  [[nodiscard]] Index shots() const override { return shot_count; }
  [[nodiscard]] Index steps() const override { return step_count; }
  [[nodiscard]] double dt() const override { return 1e-9; }
  Index runs = 0;

 private:
  [[nodiscard]] static std::size_t at(Index shot, Index receiver, Index lag, Index cell) {
    return static_cast<std::size_t>(((shot * receiver_count + receiver) * lags + lag) * cell_count + cell);
  }
  Gather forward(const Model& model, const ShotSignals& signals) override {
    ++runs;
    std::vector<double> bent(model.eps_r);
    for (double& each : bent) each *= 1 + bend_ * each;
    return convolved(signals, bent, model.sigma);
  }
  Gather born(const Model& model, const ShotSignals& signals, const ModelChange& change) override {
    std::vector<double> bent(change.eps_r);
    for (std::size_t i = 0; i < bent.size(); ++i) bent[i] *= 1 + 2 * bend_ * model.eps_r[i];
    return convolved(signals, bent, change.sigma);
  }
  [[nodiscard]] Gather convolved(const ShotSignals& signals, const std::vector<double>& eps_r,
                                 const std::vector<double>& sigma) const {
    Gather gather(step_count, receiver_count);
    for (Index r = 0; r < receiver_count; ++r)
      for (Index lag = 0; lag < lags; ++lag) {
        double response = 0;
        for (Index c = 0; c < cell_count; ++c)
          response += by_eps_[at(signals.shot, r, lag, c)] * eps_r[static_cast<std::size_t>(c)] +
                      by_sigma_[at(signals.shot, r, lag, c)] * 100 * sigma[static_cast<std::size_t>(c)];
        for (Index n = lag; n < step_count; ++n)
          gather.traces()(r, n) += response * signals.amplitudes[static_cast<std::size_t>(n - lag)];
      }
    return gather;
  }
  void backward(const Model& model, const ShotSignals& signals, const std::vector<double>& residual,
                MisfitGradient& sums) override {
    for (Index r = 0; r < receiver_count; ++r)
      for (Index lag = 0; lag < lags; ++lag) {
        double by_response = 0;
        for (Index n = lag; n < step_count; ++n)
          by_response += residual[static_cast<std::size_t>(r * step_count + n)] *
                         signals.amplitudes[static_cast<std::size_t>(n - lag)];
        for (Index c = 0; c < cell_count; ++c) {
          const auto i = static_cast<std::size_t>(c);
          sums.gradient.eps_r[i] +=
              by_response * by_eps_[at(signals.shot, r, lag, c)] * (1 + 2 * bend_ * model.eps_r[i]);
          sums.gradient.sigma[i] += by_response * by_sigma_[at(signals.shot, r, lag, c)] * 100;
        }
      }
    for (std::size_t i = 0; i < sums.illumination.eps_r.size(); ++i) {
      sums.illumination.eps_r[i] += static_cast<double>(i + 1);
      sums.illumination.sigma[i] += 1e4 * static_cast<double>(i + 1);
    }
  }

  double bend_;
  std::vector<double> by_eps_ = random_numbers(at(shot_count, 0, 0, 0), 11);
  std::vector<double> by_sigma_ = random_numbers(at(shot_count, 0, 0, 0), 12);
};

/// The reference solver on 12 x 12 cells, TM2D, with sources on one side and below and receivers on all four.
class ReferenceWaves : public ShotByShot {
 public:
  static constexpr Index side = 12, step_count = 130;
  static constexpr double cell = 0.05;

  /// The layers and the time step are those of a homogeneous model of eps_r 4, stable down to `lowest_eps_r`.
  explicit ReferenceWaves(double lowest_eps_r = 2) : grid_(spec()) {
    const ComponentMedium even = locate(homogeneous(4, 3e-3), grid_);
    dt_ = 0.9 * largest_time_step(grid_, locate(homogeneous(lowest_eps_r, 0), grid_));
    pml_ = pml_profiles(grid_, even, {}, dt_, 3e8);
    for (const Index at : {2, 9}) {
      add_shot(at, 1);
      add_shot(10, at);
    }
  }
  [[nodiscard]] static Model homogeneous(double eps_r, double sigma) {
    return {.eps_r = std::vector<double>(side * side, eps_r), .sigma = std::vector<double>(side * side, sigma)};
  }
  [[nodiscard]] CellGrid grid() const override { return {{side, 1, side}, {cell, 1, cell}}; }
  [[nodiscard]] Index shots() const override { return static_cast<Index>(shots_.size()); }
  [[nodiscard]] Index steps() const override { return step_count; }
  [[nodiscard]] double dt() const override { return dt_; }

 private:
  static GridSpec spec() {
    GridSpec spec;
    spec.cells = {side, 1, side};
    spec.spacing = {cell, 1, cell};
    spec.pml = {{{4, 4}, {0, 0}, {4, 4}}};
    spec.order = 4;
    return spec;
  }
  [[nodiscard]] PointTap node(Index z, Index x) const { return {grid_.index(z + 4, 0, x + 4), 1}; }
  void add_shot(Index z, Index x) {
    Acquisition& shot = shots_.emplace_back();
    shot.sources.push_back({Component::Ey, {node(z, x)}});
    for (const Index along : {2, 5, 8})
      for (const auto& [rz, rx] : {std::pair{along, Index{0}}, {along, side - 1}, {Index{0}, along}, {side - 1, along}})
        shot.receivers.push_back({Component::Ey, {node(rz, rx)}});
  }
  [[nodiscard]] Problem problem(const Model& model) const { return {grid_, locate(model, grid_), pml_, dt_}; }
  [[nodiscard]] static reference::Samples samples_of(const std::vector<double>& amplitudes) {
    reference::Samples samples;
    for (const double each : amplitudes) samples.push_back({each});
    return samples;
  }
  Gather forward(const Model& model, const ShotSignals& signals) override {
    const Problem on = problem(model);
    State state = make_state(on);
    const Acquisition& shot = shots_[static_cast<std::size_t>(signals.shot)];
    return gather_of(reference::forward(on, shot, samples_of(signals.amplitudes), state));
  }
  Gather born(const Model& model, const ShotSignals& signals, const ModelChange& change) override {
    const Problem on = problem(model);
    reference::Direction direction;
    direction.medium = locate_change({change.eps_r, change.sigma, std::vector<double>(change.eps_r.size())},
                                     model.location, PaddingGradient::exact, grid_);
    return gather_of(reference::jvp(on, shots_[static_cast<std::size_t>(signals.shot)], samples_of(signals.amplitudes),
                                    make_state(on), direction));
  }
  [[nodiscard]] static Gather gather_of(const reference::Samples& record) {
    Gather gather(step_count, static_cast<Index>(record.front().size()));
    for (Index r = 0; r < gather.receivers; ++r)
      for (std::size_t n = 0; n < record.size(); ++n) gather.trace(r)[n] = record[n][static_cast<std::size_t>(r)];
    return gather;
  }
  void backward(const Model& model, const ShotSignals& signals, const std::vector<double>& residual,
                MisfitGradient& sums) override {
    const Problem on = problem(model);
    const Acquisition& shot = shots_[static_cast<std::size_t>(signals.shot)];
    reference::Samples by_sample(step_count);
    for (std::size_t i = 0; i < residual.size(); ++i) by_sample[i % step_count].push_back(residual[i]);
    const reference::Gradient found =
        reference::vjp(on, shot, samples_of(signals.amplitudes), make_state(on), by_sample);
    const ModelChange change = gather_change(found.medium, model.location, PaddingGradient::exact, grid_);
    for (std::size_t i = 0; i < sums.gradient.eps_r.size(); ++i) {
      sums.gradient.eps_r[i] += change.eps_r[i];
      sums.gradient.sigma[i] += change.sigma[i];
    }
    if (!sums.illumination.eps_r.empty()) add_illumination(on, shot, signals, sums.illumination);
  }
  void add_illumination(const Problem& on, const Acquisition& shot, const ShotSignals& signals,
                        ModelChange& illumination) const {
    constexpr auto y = static_cast<std::size_t>(Component::Ey);
    State state = make_state(on);
    (void)reference::forward(on, shot, samples_of(signals.amplitudes), state,
                             [&](Index, const State& before, const State& after) {
                               for_each_cell({side, 1, side}, [&](const Triple& at, std::size_t i) {
                                 const auto padded = static_cast<std::size_t>(grid_.index(at[0] + 4, 0, at[2] + 4));
                                 const double from = before.fields[y][padded], to = after.fields[y][padded];
                                 illumination.eps_r[i] += std::pow(eps0 * (to - from) / dt_, 2);
                                 illumination.sigma[i] += std::pow((to + from) / 2, 2);
                               });
                             });
  }

  Grid grid_;
  PmlProfiles pml_;
  double dt_ = 0;
  std::vector<Acquisition> shots_;
};

}  // namespace sonde::maxwell::testing
