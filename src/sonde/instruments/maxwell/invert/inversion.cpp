// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/inversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/invert/inversion_stage.h"
#include "sonde/instruments/maxwell/invert/regularisation.h"
#include "sonde/instruments/maxwell/invert/source_estimate.h"

namespace sonde::maxwell {
namespace {

/// A step of an inversion that is still too long after so many trials is not the step that is wrong.
constexpr Index trials_of_a_step = 15;

void require_number(const char* what, double value, bool above) {
  if (!(above ? value > 0 : value >= 0) || !std::isfinite(value))
    throw Error(ErrorKind::bad_input,
                fmt::format("{} = {}; expected a finite number {} 0", what, value, above ? "above" : "of at least"));
}

void require_count(const char* what, Index value, Index least) {
  if (value < least)
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}; expected at least {}", what, value, least));
}

void require_measurements(const Measurements& measured, const WaveOperator& waves) {
  if (static_cast<Index>(measured.shots.size()) != waves.shots() ||
      static_cast<Index>(measured.amplitudes.size()) != waves.shots())
    throw Error(ErrorKind::bad_input,
                fmt::format("measurements: records of {} shots and sources of {}; the survey has {} shots",
                            measured.shots.size(), measured.amplitudes.size(), waves.shots()));
  require_number("noise", measured.noise, false);
  for (std::size_t s = 0; s < measured.shots.size(); ++s) {
    const Observation& shot = measured.shots[s];
    if (shot.records.steps != waves.steps() || measured.amplitudes[s].size() % static_cast<std::size_t>(waves.steps()))
      throw Error(ErrorKind::bad_input,
                  fmt::format("shot {}: records of {} samples and sources of {}; the survey has {} time steps", s,
                              shot.records.steps, measured.amplitudes[s].size(), waves.steps()));
    if (!shot.weights.empty() && shot.weights.size() != shot.records.samples.size())
      throw Error(ErrorKind::bad_input, fmt::format("shot {}: {} weights for {} samples", s, shot.weights.size(),
                                                    shot.records.samples.size()));
  }
}

Gather filtered(const TraceFilter& filter, Gather gather) {
  filter.apply(gather.traces(), gather.traces());
  return gather;
}

/// Signals of the sources of a shot, [source][step].
void apply_to_signals(const TraceFilter& filter, std::vector<double>& amplitudes) {
  const Index steps = filter.samples();
  const View<double, 2> rows(amplitudes.data(), static_cast<Index>(amplitudes.size()) / steps, steps);
  filter.apply(rows, rows);
}

double weight_sum(const Observation& shot) {
  if (shot.weights.empty()) return static_cast<double>(shot.records.samples.size());
  double sum = 0;
  for (const double each : shot.weights) sum += each;
  return sum;
}

/// Of the last `count` values beginning `back` before the end.
template <class Value>
double mean_of(const std::vector<Value>& seen, Index count, Index back, double Value::*member) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += seen[seen.size() - static_cast<std::size_t>(back + i) - 1].*member;
  return sum / static_cast<double>(count);
}

}  // namespace

void require_valid(const InversionSettings& settings) {
  if (settings.stages.empty()) throw Error(ErrorKind::bad_input, "inversion: no stage; expected at least one");
  for (const InversionStage& stage : settings.stages) {
    require_valid(stage.band);
    require_count("iterations", stage.iterations, 1);
  }
  require_number("tv", settings.regularisation.tv, false);
  require_number("tikhonov", settings.regularisation.tikhonov, false);
  require_number("tv_epsilon", settings.regularisation.tv_epsilon, true);
  require_count("source_every", settings.source_every, 1);
  require_number("source_damping", settings.source_damping, true);
  require_count("shots_per_batch", settings.shots_per_batch, 0);
  require_count("memory", settings.memory, 0);
  require_count("products", settings.products, 1);
  require_count("uncertainty", settings.uncertainty.rank, 0);
  require_number("uncertainty_prior", settings.uncertainty.prior, true);
  const bool newton = settings.optimiser == OptimiserKind::gauss_newton;
  if ((newton || settings.uncertainty.rank > 0) &&
      (settings.misfit.kind != MisfitKind::l2 || settings.misfit.normalise_traces))
    throw Error(ErrorKind::bad_input, fmt::format("{}: the misfit is not l2 of plain traces",
                                                  newton ? "optimiser gauss_newton" : "uncertainty"))
        .hint(fmt::format("take the misfit l2 without normalised traces, or {}",
                          newton ? "the optimiser lbfgs" : "uncertainty = 0"));
  require_number("first_change", settings.first_change, true);
  if (settings.illumination_damping) require_number("illumination_damping", *settings.illumination_damping, true);
  require_number("change", settings.exit.change, false);
  require_number("gradient", settings.exit.gradient, false);
  require_number("chi2", settings.exit.chi2, false);
  require_count("evaluations", settings.exit.evaluations, 0);
  require_number("seconds", settings.exit.seconds, false);
}

std::string_view text_of(StopReason reason) {
  switch (reason) {
    case StopReason::iterations:
      return "all iterations of the stage are done";
    case StopReason::small_change:
      return "the objective hardly changes";
    case StopReason::small_gradient:
      return "the gradient is small";
    case StopReason::noise_level:
      return "the records are explained to their noise";
    case StopReason::no_descent:
      return "no step along the gradient lowers the objective";
    case StopReason::evaluations:
      return "the limit of evaluations is reached";
    case StopReason::wall_clock:
      return "the limit of time is reached";
  }
  return "";
}

Inversion::Inversion(WaveOperator& waves, Measurements measurements, Parameters parameters, InversionSettings settings)
    : waves_(&waves),
      measurements_(std::move(measurements)),
      parameters_(std::move(parameters)),
      settings_(std::move(settings)),
      numbers_(parameters_.start()) {
  require_valid(settings_);
  require_measurements(measurements_, waves);
  if (settings_.uncertainty.rank > 0 && !(measurements_.noise > 0))
    throw Error(ErrorKind::bad_input, "uncertainty: the noise of the records is not known")
        .hint("set data.noise to the standard deviation of a sample");
}

Inversion::~Inversion() = default;

Index Inversion::batches() const {
  const Index size = settings_.shots_per_batch;
  return size == 0 ? 1 : (waves_->shots() + size - 1) / size;
}

const std::vector<double>& Inversion::numbers() const { return stage_ ? stage_->x() : numbers_; }

Model Inversion::model() const { return parameters_.model(parameters_.fields(numbers())); }

void Inversion::make_stage(Index number) {
  const Band band = settings_.stages[static_cast<std::size_t>(number)].band;
  const Index steps = waves_->steps();
  stage_ = std::make_unique<Stage>(
      Stage{.filter = stage_filter(band, waves_->dt(), steps), .misfit = Misfit(settings_.misfit, steps)});
  for (const Observation& shot : measurements_.shots)
    stage_->measured.push_back(filtered(stage_->filter, shot.records));
  make_signals();
}

void Inversion::make_signals() {
  stage_->all.clear();
  for (Index s = 0; s < waves_->shots(); ++s) {
    stage_->all.push_back({s, measurements_.amplitudes[static_cast<std::size_t>(s)]});
    if (settings_.filter == FilterPlace::source) apply_to_signals(stage_->filter, stage_->all.back().amplitudes);
  }
  choose_batch(stage_->batch);
}

void Inversion::choose_batch(Index batch) {
  stage_->batch = batch;
  stage_->active.clear();
  for (const ShotSignals& each : stage_->all)
    if (each.shot % batches() == batch) stage_->active.push_back(each);
}

/// A batch counts as if it were all shots.
double Inversion::share_of_batch() const {
  return static_cast<double>(stage_->active.size()) / static_cast<double>(waves_->shots());
}

RecordMisfit Inversion::misfit_of(Index shot, const Gather& computed) const {
  const auto s = static_cast<std::size_t>(shot);
  const std::vector<double>& weights = measurements_.shots[s].weights;
  if (settings_.filter == FilterPlace::source) return stage_->misfit(computed, stage_->measured[s], weights);
  RecordMisfit found = stage_->misfit(filtered(stage_->filter, computed), stage_->measured[s], weights);
  Gather residual(computed.steps, computed.receivers);
  residual.samples = std::move(found.residual);
  stage_->filter.apply_transpose(residual.traces(), residual.traces());
  found.residual = std::move(residual.samples);
  return found;
}

double Inversion::add_regularisation(std::span<const double> fields, std::span<double> gradient) const {
  const RegularisationSettings& by = settings_.regularisation;
  const CellGrid& grid = parameters_.grid();
  const auto cells = static_cast<std::size_t>(grid.count());
  double sum = 0;
  for (std::size_t at = 0; at < fields.size(); at += cells) {
    const std::span<const double> field = fields.subspan(at, cells);
    const std::span<double> of_field = gradient.subspan(at, cells);
    if (by.tv > 0) sum += total_variation(grid, field, by.tv_epsilon, by.tv, of_field);
    if (by.tikhonov > 0) sum += tikhonov(grid, field, by.tikhonov, of_field);
  }
  return sum;
}

double Inversion::evaluate(std::span<const double> numbers, std::span<double> gradient, Illumination illumination) {
  const std::vector<double> fields = parameters_.fields(numbers);
  MisfitGradient found = waves_->gradient(
      parameters_.model(fields), stage_->active,
      [this](Index shot, const Gather& computed) { return misfit_of(shot, computed); }, illumination);
  ++evaluations_;
  if (!std::isfinite(found.value)) {
    std::ranges::fill(gradient, 0.0);
    last_ = {.objective = std::numeric_limits<double>::infinity(), .misfit = found.value};
    return last_.objective;
  }
  if (stage_->scale == 0) stage_->scale = found.value > 0 ? found.value : 1;
  const double share = share_of_batch();
  std::vector<double> by_fields = parameters_.by_fields(fields, found.gradient);
  for (double& each : by_fields) each /= stage_->scale * share;
  const double regularisation = add_regularisation(fields, by_fields);
  std::ranges::copy(parameters_.by_numbers(by_fields), gradient.begin());
  last_ = {.objective = found.value / (stage_->scale * share) + regularisation,
           .misfit = found.value,
           .squares = found.squares,
           .regularisation = regularisation,
           .gradient = std::move(found.gradient),
           .illumination = std::move(found.illumination)};
  return last_.objective;
}

/// The matrix of Gauss and Newton of the misfit times a change of the fields.
std::vector<double> Inversion::misfit_product(std::span<const double> fields, std::span<const double> along) {
  const bool of_records = settings_.filter == FilterPlace::records;
  const ShotWeighting weighting = [&](Index shot, const Gather& change) {
    const std::vector<double>& weights = measurements_.shots[static_cast<std::size_t>(shot)].weights;
    Gather weighted = of_records ? filtered(stage_->filter, change) : change;
    for (std::size_t i = 0; i < weights.size(); ++i) weighted.samples[i] *= weights[i];
    if (of_records) stage_->filter.apply_transpose(weighted.traces(), weighted.traces());
    return std::move(weighted.samples);
  };
  const ModelChange found = waves_->gauss_newton(parameters_.model(fields), stage_->active,
                                                 parameters_.model_change(fields, along), weighting);
  ++evaluations_;
  std::vector<double> by_fields = parameters_.by_fields(fields, found);
  for (double& each : by_fields) each /= stage_->scale * share_of_batch();
  return by_fields;
}

/// The matrix of the misfit and of what regularises it.
void Inversion::multiply(std::span<const double> numbers, std::span<const double> direction,
                         std::span<double> product) {
  const std::vector<double> fields = parameters_.fields(numbers), along = parameters_.field_change(direction);
  std::vector<double> by_fields = misfit_product(fields, along);
  const RegularisationSettings& by = settings_.regularisation;
  const CellGrid& grid = parameters_.grid();
  const auto cells = static_cast<std::size_t>(grid.count());
  for (std::size_t at = 0; at < fields.size(); at += cells) {
    const std::span<double> to = std::span(by_fields).subspan(at, cells);
    const std::span<const double> field = std::span(fields).subspan(at, cells), d = std::span(along).subspan(at, cells);
    if (by.tv > 0) total_variation_curvature(grid, field, by.tv_epsilon, by.tv, d, to);
    if (by.tikhonov > 0) (void)tikhonov(grid, d, by.tikhonov, to);
  }
  std::ranges::copy(parameters_.by_numbers(by_fields), product.begin());
}

void Inversion::make_optimiser(Point point) {
  if (!std::isfinite(point.value))
    throw Error(ErrorKind::bad_input, fmt::format("stage {}: the misfit of the model is {}; expected a finite number",
                                                  stage_number_ + 1, last_.misfit))
        .hint("records, weights and sources must be finite, and the time step stable at the lowest bounds");
  const Objective<double> objective = [this](std::span<const double> numbers, std::span<double> gradient) {
    return evaluate(numbers, gradient, Illumination::skipped);
  };
  if (settings_.optimiser == OptimiserKind::lbfgs) {
    Stage::Lbfgs::State state{
        .x = std::move(point.x), .gradient = std::move(point.gradient), .pairs = std::move(point.pairs)};
    state.value = point.value;
    const LbfgsSettings how{.memory = settings_.memory,
                            .tolerance = stage_->tolerance,
                            .first_move = stage_->first_move,
                            .most_trials = trials_of_a_step};
    stage_->optimiser = std::make_unique<std::variant<Stage::Lbfgs, Stage::Newton>>(
        Stage::Lbfgs(objective, std::move(state), parameters_.bounds(), how, stage_->diagonal));
    return;
  }
  const HessianProduct<double> product = [this](std::span<const double> x, std::span<const double> direction,
                                                std::span<double> to) { multiply(x, direction, to); };
  Stage::Newton::State state{.x = std::move(point.x), .gradient = std::move(point.gradient)};
  state.value = point.value;
  state.forcing = point.forcing;
  const NewtonSettings how{
      .products = settings_.products, .tolerance = stage_->tolerance, .most_trials = trials_of_a_step};
  stage_->optimiser = std::make_unique<std::variant<Stage::Lbfgs, Stage::Newton>>(
      Stage::Newton(objective, product, std::move(state), parameters_.bounds(), how, stage_->diagonal));
}

/// The same numbers with other shots or another source.
void Inversion::evaluate_again(Pairs pairs) {
  Point point = stage_->point();
  point.value = evaluate(point.x, point.gradient, Illumination::skipped);
  if (pairs == Pairs::cleared) point.pairs.clear();
  at_ = last_;
  make_optimiser(std::move(point));
}

void Inversion::begin_stage() {
  make_stage(stage_number_);
  Stage& stage = *stage_;
  stage.active = stage.all;
  if (settings_.source_estimation != SourceEstimation::off) estimate_source();
  stage.active = stage.all;
  Point state{.x = numbers_};
  state.gradient.resize(numbers_.size());
  const bool by_illumination = settings_.illumination_damping.has_value();
  state.value = evaluate(state.x, state.gradient, by_illumination ? Illumination::summed : Illumination::skipped);
  at_ = last_;
  if (by_illumination && (!at_.illumination.eps_r.empty() || !at_.illumination.sigma.empty()))
    stage.diagonal =
        parameters_.preconditioner(parameters_.fields(state.x), at_.illumination, *settings_.illumination_damping);
  // The first step is along the gradient: of a length by which no number changes by more than first_change.
  double largest = 0, squares = 0;
  for (std::size_t i = 0; i < state.gradient.size(); ++i) {
    const double d = state.gradient[i] * (stage.diagonal.empty() ? 1 : stage.diagonal[i]);
    largest = std::max(largest, std::abs(d));
    squares += d * d;
  }
  if (largest > 0) stage.first_move = settings_.first_change * std::sqrt(squares) / largest;
  make_optimiser(state);
  stage.tolerance = settings_.exit.gradient * stage.projected_gradient();
  make_optimiser(std::move(state));
  if (batches() == 1) return;
  choose_batch(0);
  evaluate_again(Pairs::cleared);
}

/// By records of all shots in the model of now.
void Inversion::estimate_source() {
  const Index steps = waves_->steps();
  const bool global = settings_.source_estimation == SourceEstimation::global;
  std::vector<SourceEstimate> estimates(global ? 1 : measurements_.shots.size(), SourceEstimate(steps));
  const auto of_shot = [&](std::size_t shot) -> SourceEstimate& { return estimates[global ? 0 : shot]; };
  // Between stages the optimiser does not exist yet.
  const std::vector<double>& x = stage_->optimiser ? stage_->x() : numbers_;
  waves_->record(parameters_.model(parameters_.fields(x)), stage_->all, [&](Index shot, const Gather& computed) {
    const auto s = static_cast<std::size_t>(shot);
    of_shot(s).add(settings_.filter == FilterPlace::records ? filtered(stage_->filter, computed) : computed,
                   stage_->measured[s], measurements_.shots[s].weights);
  });
  for (std::size_t s = 0; s < measurements_.shots.size(); ++s)
    apply_to_signals(of_shot(s).correction(settings_.source_damping), measurements_.amplitudes[s]);
  make_signals();
}

Descent Inversion::iterate() {
  Stage& stage = *stage_;
  const Index batch = stage.iteration % batches();
  const bool other_shots = batch != stage.batch;
  const bool other_source = settings_.source_estimation != SourceEstimation::off && stage.iteration > 0 &&
                            stage.iteration % settings_.source_every == 0;
  if (other_shots) choose_batch(batch);
  if (other_source) {
    estimate_source();
    stage.seen.clear();
  }
  if (other_shots || other_source) evaluate_again(other_source ? Pairs::cleared : Pairs::kept);
  if (other_source && batches() == 1) stage.seen.push_back({at_.objective, chi2()});
  ++stage.iteration;
  const Descent descent = stage.iterate();
  if (stage.value() == last_.objective) at_ = last_;
  return descent;
}

/// The mean square of n samples of noise of size 1 is 1 within sqrt(2 / n): a model that explains all may not get
/// below 1.
double Inversion::noise_allowance() const {
  double samples = 0;
  for (const Observation& shot : measurements_.shots)
    samples += static_cast<double>(
        shot.weights.empty() ? shot.records.samples.size()
                             : shot.weights.size() - static_cast<std::size_t>(std::ranges::count(shot.weights, 0.0)));
  return 1 + 2 * std::sqrt(2 / std::max(samples, 1.0));
}

double Inversion::chi2() const {
  double weights = 0;
  for (const ShotSignals& each : stage_->active)
    weights += weight_sum(measurements_.shots[static_cast<std::size_t>(each.shot)]);
  const double noise = measurements_.noise * stage_->filter.noise_gain();
  return noise > 0 ? at_.squares / (weights * noise * noise) : std::numeric_limits<double>::quiet_NaN();
}

void Inversion::add_row() {
  history_.push_back({.stage = stage_number_,
                      .iteration = stage_->iteration,
                      .objective = at_.objective,
                      .misfit = at_.misfit,
                      .regularisation = at_.regularisation,
                      .chi2 = chi2(),
                      .projected_gradient = stage_->projected_gradient(),
                      .evaluations = evaluations_,
                      .seconds = waves_->agreed(seconds_before_ + watch_.seconds())});
  if (stage_->iteration > 0 || batches() == 1) stage_->seen.push_back({at_.objective, history_.back().chi2});
}

std::optional<StopReason> Inversion::limit() const {
  const ExitCriteria& exit = settings_.exit;
  if (exit.evaluations > 0 && evaluations_ >= exit.evaluations) return StopReason::evaluations;
  if (exit.seconds > 0 && history_.back().seconds >= exit.seconds) return StopReason::wall_clock;
  return std::nullopt;
}

std::optional<StopReason> Inversion::stage_end(Descent descent) const {
  const auto& seen = stage_->seen;
  const Index many = static_cast<Index>(seen.size()), round = batches();
  if (many >= round && mean_of(seen, round, 0, &Stage::Seen::chi2) <= settings_.exit.chi2 * noise_allowance())
    return StopReason::noise_level;
  if (descent == Descent::converged) return StopReason::small_gradient;
  if (descent == Descent::stalled) return StopReason::no_descent;
  if (many >= 2 * round) {
    const double before = mean_of(seen, round, round, &Stage::Seen::objective),
                 now = mean_of(seen, round, 0, &Stage::Seen::objective);
    if (before - now <= settings_.exit.change * std::abs(before)) return StopReason::small_change;
  }
  if (stage_->iteration >= settings_.stages[static_cast<std::size_t>(stage_number_)].iterations)
    return StopReason::iterations;
  return std::nullopt;
}

void Inversion::end_stage(StopReason reason) {
  numbers_ = stage_->x();
  stage_.reset();
  ends_.push_back({stage_number_++, reason});
  finished_ = finished_ || stage_number_ == static_cast<Index>(settings_.stages.size());
}

bool Inversion::step(const Observer& observer) {
  if (finished_) return false;
  Descent descent = Descent::goes_on;
  if (stage_)
    descent = iterate();
  else
    begin_stage();
  add_row();
  if (observer) observer({history_.back(), model(), at_.gradient});
  if (const auto limited = limit()) {
    finished_ = true;
    end_stage(*limited);
  } else if (const auto reason = stage_end(descent)) {
    end_stage(*reason);
  }
  return true;
}

bool Inversion::failed() const {
  return !ends_.empty() && ends_.front().reason == StopReason::no_descent &&
         std::ranges::none_of(history_, [](const InversionRow& row) { return row.stage == 0 && row.iteration > 1; });
}

}  // namespace sonde::maxwell
