// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/born_propagator.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/propagate/second_back_propagator.h"
#include "sonde/instruments/maxwell/run/series.h"
#include "sonde/instruments/maxwell/trajectory/born_trajectory.h"
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

namespace sonde::maxwell {
namespace {

/// What the work of one precision keeps from shot to shot.
template <class T>
struct Machinery {
  std::optional<Propagator<T>> forward{};
  std::optional<BackPropagator<T>> back{};
  std::unique_ptr<Trajectory<T>> trajectory{};
};

template <class T>
typename Propagator<T>::Beside beside(const Operator::Stepped& stepped) {
  if (!stepped) return {};
  return {.counted = stepped};
}

/// By how much the sums of a sweep over sampled steps fall short.
void scale(SweepSums& sums, double by) {
  if (by == 1) return;
  for (auto* group : {&sums.difference, &sums.sum, &sums.magnetic})
    for (std::vector<double>& values : *group)
      for (double& value : values) value *= by;
  for (SweepSums::Pole& pole : sums.poles)
    for (auto* group : {&pole.sum, &pole.held})
      for (std::vector<double>& values : *group)
        for (double& value : values) value *= by;
}

}  // namespace

struct Operator::Impl {
  Problem problem;
  OperatorSettings settings;
  Index ratio = 1;
  GradientOf of{};
  StoragePlan plan{};
  TierBudgets budgets = TierBudgets::unlimited();
  std::variant<Machinery<float>, Machinery<double>> machinery{};

  Impl(Problem given, const PmlSettings& layers, double dominant_frequency, const OperatorSettings& how)
      : problem(std::move(given)), settings(how) {
    if (settings.precision == Precision::f64) machinery.emplace<Machinery<double>>();
    const double steps = settings.dt / stable_step();
    if (!(steps <= static_cast<double>(static_cast<double>(most_sub_steps))))
      throw Error(ErrorKind::bad_input,
                  fmt::format("dt = {} s is {:.3g} times the largest stable step; at most {:g} times is possible",
                              settings.dt, steps, static_cast<double>(most_sub_steps)))
          .hint("take a smaller dt, or larger cells");
    // The limit of a model of vacuum is dt itself but for rounding.
    ratio = std::max<Index>(settings.least_ratio, static_cast<Index>(std::ceil(steps - 1e-9)));
    problem.dt = settings.dt / static_cast<double>(ratio);
    problem.pml = pml_profiles(problem.grid, problem.medium, layers, problem.dt, dominant_frequency);
  }

  Impl(Problem given, const OperatorSettings& how)
      : problem(std::move(given)), settings(how), ratio(std::max<Index>(1, std::llround(how.dt / problem.dt))) {
    if (settings.precision == Precision::f64) machinery.emplace<Machinery<double>>();
  }

  /// Of the first medium and of those that come later.
  [[nodiscard]] double stable_step() const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& values : problem.medium.eps_r)
      for (const double value : values) least = std::min(least, value);
    const double later = settings.least_eps_r > 0 ? std::min(1.0, settings.least_eps_r / least) : 1;
    return largest_time_step(problem.grid, problem.medium) * std::sqrt(later);
  }

  [[nodiscard]] Index inner_steps() const { return settings.steps * ratio; }
  [[nodiscard]] Series series() const { return {settings.steps, ratio, settings.corrected}; }

  template <class T>
  Propagator<T>& propagator(Machinery<T>& at) {
    if (!at.forward) at.forward.emplace(problem, settings.device, settings.threads, settings.shots);
    return *at.forward;
  }

  [[nodiscard]] Wanted wanted(const GradientOf& which) const {
    const bool both = problem.loss == LossForm::exponential && (which.eps_r || which.sigma);
    return {.difference = which.eps_r || both,
            .sum = which.sigma || both,
            .magnetic = which.mu_r,
            .squares = which.illumination,
            .poles = which.poles && !problem.medium.poles.empty()};
  }

  template <class T>
  Propagator<T>& at_start(Machinery<T>& at, const Shot& shot) {
    Propagator<T>& fields = propagator(at);
    shot.start ? fields.set_state(*shot.start) : fields.clear();
    return fields;
  }

  template <class T>
  void show(Propagator<T>& fields, Index step, const Watch& watch) {
    if (!watch.look) return;
    LiveFields shown(fields, problem.part.get());
    watch.look(step, shown);
    if (shown.edited()) fields.fields_changed();
  }

  template <class T>
  std::vector<double> forward(Machinery<T>& at, const Shot& shot, const Stepped& stepped, const Watch& watch) {
    const std::vector<double> amplitudes = series().amplitudes_of(shot.points.sources, shot.amplitudes);
    std::vector<double> record(static_cast<std::size_t>(inner_steps()) * shot.points.receivers.size());
    Propagator<T>& fields = at_start(at, shot);
    if (watch.energy && !settings.device.is_cpu())
      throw Error(ErrorKind::not_supported, "the energy of the fields is not measured on a GPU").hint("run on the CPU");
    std::optional<EnergyMeter<T>> meter;
    if (watch.energy) meter.emplace(problem, fields);
    const auto measured = [&](Index n) { return watch.energy && n % (watch.energy_every * ratio) == 0; };
    typename Propagator<T>::Beside with = beside<T>(stepped);
    if (watch.look || meter)
      with.before = [&](Index n) {
        if (n % ratio == 0) show(fields, n / ratio, watch);
        if (meter) meter->measure_next(measured(n));
      };
    if (meter) {
      with.planes = meter->hooks();
      with.after = [&](Index n, const Propagator<T>&) {
        if (measured(n)) watch.energy(n / ratio, meter->taken());
      };
    }
    fields.run(shot.points, inner_steps(), amplitudes, record, with);
    show(fields, settings.steps, watch);
    return series().record_of(shot.points.receivers, record);
  }

  template <class T>
  std::vector<double> born(Machinery<T>&, const Shot& shot, const ComponentChange& change,
                           std::span<const double> amplitude_changes, const Stepped& stepped, const FieldChange& ends) {
    BornPropagator<T> fields(problem, change, settings.device);
    if (shot.start || ends.start != nullptr) {
      const State zero = make_state(problem);
      fields.set_state(shot.start ? *shot.start : zero, ends.start != nullptr ? *ends.start : zero);
    }
    const std::vector<double> amplitudes = series().amplitudes_of(shot.points.sources, shot.amplitudes);
    std::vector<double> changes;
    if (!amplitude_changes.empty()) changes = series().amplitudes_of(shot.points.sources, amplitude_changes);
    std::vector<double> record(static_cast<std::size_t>(inner_steps()) * shot.points.receivers.size());
    fields.run(shot.points, inner_steps(), amplitudes, changes, {}, record, {.after = [&](Index) {
                 if (stepped) stepped();
               }});
    if (ends.end != nullptr) *ends.end = fields.change_state();
    return series().record_of(shot.points.receivers, record);
  }

  template <class T>
  std::vector<ShotGradient> gradients(Machinery<T>& at, const Shot& shot, Index count, const Loss& loss,
                                      const Stepped& stepped, const Watch& watch) {
    if (of.medium() && !at.trajectory) at.trajectory = make_trajectory<T>(plan, budgets, settings.device);
    const std::vector<double> amplitudes = series().amplitudes_of(shot.points.sources, shot.amplitudes);
    std::vector<double> inner(static_cast<std::size_t>(inner_steps()) * shot.points.receivers.size());
    Propagator<T>& fields = at_start(at, shot);
    if (of.medium())
      at.trajectory->run(fields, shot.points, inner_steps(), amplitudes, inner, stepped);
    else
      fields.run(shot.points, inner_steps(), amplitudes, inner, beside<T>(stepped));
    const std::vector<double> record = series().record_of(shot.points.receivers, inner);
    std::vector<double> residual(record.size());
    std::vector<ShotGradient> made(static_cast<std::size_t>(count));
    made.front().value = loss(record, residual);
    inner = series().residual_of(shot.points.receivers, residual);
    if (!at.back) at.back.emplace(problem, settings.device, settings.threads, settings.shots);
    at.back->clear_sums();
    std::vector<double> sources(amplitudes.size());
    const std::function<ComponentChange()> so_far = [&] { return medium_of(at.back->sums()); };
    typename BackPropagator<T>::Beside with{.end = shot.end.get()};
    if (watch.look_back)
      with.after = [&](Index n) {
        if (n % ratio != 0) return;
        LiveFields shown(*at.back);
        watch.look_back(n / ratio, shown, so_far);
      };
    at.back->run(shot.points, inner_steps(), inner, at.trajectory.get(), wanted(of), sources, with);
    for (Index s = 0; of.medium() && s < count; ++s) {
      ShotGradient& one = made[static_cast<std::size_t>(s)];
      SweepSums sums = at.back->sums(s);
      if (of.illumination) one.illumination = asked_for(illumination_of(sums, problem.dt));
      one.medium = medium_of(std::move(sums));
      if (problem.part) gather(one);
    }
    if (of.start) made.front().start = at.back->start();
    if (of.sources) made.front().sources = series().gradient_of_amplitudes(shot.points.sources, sources);
    return made;
  }

  /// From all parts to rank 0.
  void gather(ShotGradient& gradient) const {
    std::vector<std::array<std::vector<double>, 3>*> groups{&gradient.illumination.eps_r, &gradient.illumination.sigma,
                                                            &gradient.medium.eps_r, &gradient.medium.sigma,
                                                            &gradient.medium.mu_r};
    for (DebyePole& pole : gradient.medium.poles) groups.insert(groups.end(), {&pole.deps, &pole.tau});
    for (auto* group : groups)
      for (std::vector<double>& values : *group) values = problem.part->gathered(values);
  }

  /// Nodes of a part that have a gradient, on its arrays.
  [[nodiscard]] static NodeBox box_of(const Grid& grid, NodeBox own, PaddingGradient padding) {
    for (const Axis axis : all_axes) {
      const std::size_t a = dimension(axis);
      if (padding == PaddingGradient::exact) break;
      own.first[a] = std::max(own.first[a], grid.low(axis));
      own.last[a] = std::min(own.last[a], grid.low(axis) + grid.cells(axis));
    }
    return own;
  }
  [[nodiscard]] NodeBox box_here(PaddingGradient padding) const {
    const Grid& grid = problem.grid;
    return box_of(grid, problem.part ? problem.part->own() : NodeBox{{}, grid.extents()}, padding);
  }
  /// The largest of all parts: all ranks plan for it, and so the same.
  [[nodiscard]] NodeBox largest_box(PaddingGradient padding) const {
    if (!problem.part) return box_here(padding);
    NodeBox most;
    for (const GridPart::Piece& each : problem.part->pieces())
      if (const NodeBox box = box_of(each.grid, each.own, padding); box.count() > most.count()) most = box;
    return most;
  }

  /// The most that bytes(grid) are of any part; of the whole where it is not divided.
  template <class Bytes>
  [[nodiscard]] PropagatorBytes most_of(const Bytes& bytes) const {
    if (!problem.part) return bytes(problem.grid);
    PropagatorBytes made;
    for (const GridPart::Piece& each : problem.part->pieces()) {
      const PropagatorBytes here = bytes(each.grid);
      made = {std::max(made.lasting, here.lasting), std::max(made.state, here.state),
              std::max(made.in_preparation, here.in_preparation)};
    }
    return made;
  }
  [[nodiscard]] Index most_nodes() const {
    Index most = problem.grid.count();
    if (problem.part)
      for (const GridPart::Piece& each : problem.part->pieces()) most = std::max(most, each.grid.count());
    return most;
  }

  /// The part of a gradient that its sums make.
  [[nodiscard]] ComponentChange medium_of(SweepSums sums) const {
    scale(sums, static_cast<double>(plan.layout.interval));
    ComponentChange made = gradient_of(sums, problem.medium, problem.grid, problem.dt, problem.loss);
    made.poles = pole_gradient_of(sums, problem.medium, problem.grid, problem.dt);
    return asked_for(std::move(made));
  }
  [[nodiscard]] ComponentChange asked_for(ComponentChange made) const {
    if (!of.eps_r) made.eps_r = {};
    if (!of.sigma) made.sigma = {};
    return made;
  }

  [[nodiscard]] std::vector<DebyePole> pole_change_of(SweepSums sums, SweepSums moved,
                                                      const std::vector<DebyePole>& change) const {
    for (SweepSums* each : {&sums, &moved}) scale(*each, static_cast<double>(plan.layout.interval));
    return pole_gradient_change(sums, moved, change, problem.medium, problem.grid, problem.dt);
  }

  template <class T>
  ShotGradient hessian_product(Machinery<T>& at, const Shot& shot, const ComponentChange& change,
                               std::span<const double> amplitude_changes, const SecondLoss& loss, Hessian which,
                               const Stepped& stepped) {
    if (!settings.device.is_cpu())
      throw Error(ErrorKind::not_supported, "products with a Hessian are not computed on a GPU").hint("run on the CPU");
    const bool full = which == Hessian::full;
    const Wanted sums_of = wanted(of);
    if (full && problem.loss == LossForm::exponential)
      throw Error(ErrorKind::not_supported, "the Hessian of a run with exponential loss is not known")
          .hint("take the semi-implicit form, or the product of Gauss and Newton");
    BornPropagator<T> fields(problem, change);
    BornTrajectory<T> trajectory(plan, budgets, full);
    if (shot.start) fields.set_state(*shot.start, make_state(problem));
    const std::vector<double> amplitudes = series().amplitudes_of(shot.points.sources, shot.amplitudes);
    std::vector<double> changes;
    if (!amplitude_changes.empty()) changes = series().amplitudes_of(shot.points.sources, amplitude_changes);
    const std::vector<Point>& receivers = shot.points.receivers;
    std::vector<double> inner(static_cast<std::size_t>(inner_steps()) * receivers.size()), inner_change = inner;
    trajectory.run(fields, shot.points, inner_steps(), amplitudes, changes, inner, inner_change, stepped);
    const std::vector<double> record = series().record_of(receivers, inner),
                              record_change = series().record_of(receivers, inner_change);
    std::vector<double> residual(record.size()), residual_change(record.size());
    ShotGradient made;
    made.value = loss(record, record_change, residual, residual_change);
    inner = series().residual_of(receivers, residual);
    inner_change = series().residual_of(receivers, residual_change);
    std::vector<double> sources(amplitudes.size());
    if (full) {
      SecondBackPropagator<T> back(problem, change);
      back.run(shot.points, inner_steps(), inner, inner_change, trajectory.background(), trajectory.change(), sums_of,
               sources);
      if (of.medium()) made.medium = medium_of(back.sums());
      if (sums_of.poles) made.medium.poles = pole_change_of(back.pole_sums(), back.sums(), change.poles);
    } else {
      if (!at.back) at.back.emplace(problem, settings.threads);
      at.back->clear_sums();
      at.back->run(shot.points, inner_steps(), inner_change, &trajectory.background(), sums_of, sources);
      if (of.medium()) made.medium = medium_of(at.back->sums());
    }
    if (of.sources) made.sources = series().gradient_of_amplitudes(shot.points.sources, sources);
    return made;
  }

  /// Adds what is held where the steps are computed.
  std::size_t add_fields(MemoryPlan& memory, const GradientOf* which) const {
    const std::string cells = fmt::format("{} cells, at most", most_nodes());
    std::size_t held = memory.add("fields and factors", forward_bytes().lasting, cells);
    if (which == nullptr) return held;
    const std::size_t poles = problem.medium.poles.size();
    const PropagatorBytes back = most_of([&](const Grid& grid) {
      return settings.precision == Precision::f32
                 ? BackPropagator<float>::bytes_for(grid, poles, wanted(*which), settings.device, settings.shots)
                 : BackPropagator<double>::bytes_for(grid, poles, wanted(*which), settings.device, settings.shots);
    });
    return held + memory.add("transposed fields and sums", back.lasting, cells);
  }

  [[nodiscard]] std::size_t halo_bytes() const {
    return static_cast<std::size_t>(problem.part->halo_elements()) * element_bytes(settings.precision);
  }

  [[nodiscard]] PropagatorBytes forward_bytes() const {
    const std::size_t poles = problem.medium.poles.size();
    return most_of([&](const Grid& grid) {
      return settings.precision == Precision::f32
                 ? Propagator<float>::bytes_for(grid, poles, settings.device, settings.shots)
                 : Propagator<double>::bytes_for(grid, poles, settings.device, settings.shots);
    });
  }
};

Operator::Operator(Problem problem, const PmlSettings& layers, double dominant_frequency,
                   const OperatorSettings& settings)
    : impl_(std::make_unique<Impl>(std::move(problem), layers, dominant_frequency, settings)) {}
Operator::Operator(Problem problem, const OperatorSettings& settings)
    : impl_(std::make_unique<Impl>(std::move(problem), settings)) {}
Operator::~Operator() = default;
Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;

void Operator::divide(const Triple& parts, const Ranks& ranks) {
  Problem& problem = impl_->problem;
  problem = part_of(problem, std::make_shared<GridPart>(problem.grid, parts, ranks));
}

const Problem& Operator::problem() const { return impl_->problem; }
const Grid& Operator::grid() const { return impl_->problem.part ? impl_->problem.part->whole() : impl_->problem.grid; }
const OperatorSettings& Operator::settings() const { return impl_->settings; }
Index Operator::ratio() const { return impl_->ratio; }
Index Operator::inner_steps() const { return impl_->inner_steps(); }

void Operator::set_medium(ComponentMedium medium) {
  const double most = largest_time_step(impl_->problem.grid, medium);
  if (impl_->problem.dt > most * (1 + 1e-9))
    throw Error(ErrorKind::bad_input, fmt::format("a step of {:.5g} s is not stable in this medium: at most {:.5g} s",
                                                  impl_->problem.dt, most));
  impl_->problem.medium = std::move(medium);
  std::visit(
      [](auto& at) {
        at.forward.reset();
        at.back.reset();
      },
      impl_->machinery);
}

Index Operator::steps_together() const {
  return std::visit([](const auto& at) { return at.forward ? at.forward->steps_together() : 0; }, impl_->machinery);
}

std::vector<double> Operator::forward(const Shot& shot, const Stepped& stepped, const Watch& watch) {
  return std::visit([&](auto& at) { return impl_->forward(at, shot, stepped, watch); }, impl_->machinery);
}

std::vector<double> Operator::born(const Shot& shot, const ComponentChange& change,
                                   std::span<const double> amplitude_changes, const Stepped& stepped,
                                   const FieldChange& fields) {
  return std::visit([&](auto& at) { return impl_->born(at, shot, change, amplitude_changes, stepped, fields); },
                    impl_->machinery);
}

StorageRequest Operator::storage_request(const GradientOf& of, double highest_frequency) const {
  const Grid& grid = impl_->problem.grid;
  StorageRequest made;
  made.layout.box = impl_->largest_box(of.padding);
  made.layout.shots = impl_->settings.shots;
  for (const Component c : grid.components())
    if (is_electric(c) ? of.eps_r || of.sigma || of.poles : of.mu_r) made.layout.components.push_back(c);
  const bool both = impl_->problem.loss == LossForm::exponential || of.mu_r;
  made.layout.difference = of.eps_r || both;
  made.layout.sum = of.sigma || of.poles || impl_->problem.loss == LossForm::exponential;
  if (of.poles) made.layout.poles = std::ssize(impl_->problem.medium.poles);
  made.precision = impl_->settings.precision;
  made.steps = inner_steps();
  made.ratio = ratio();
  made.dt = impl_->settings.dt;
  made.highest_frequency = highest_frequency;
  made.state_bytes = impl_->forward_bytes().state;
  if (impl_->problem.part)
    made.reconstruction.obstacle = "the grid is divided among processes";
  else
    made.reconstruction = reconstruction_of(impl_->problem, made.layout, made.steps, made.precision);
  return made;
}

void Operator::prepare_gradient(const GradientOf& of, const StoragePlan& plan, const TierBudgets& budgets) {
  if (of.poles && !impl_->settings.device.is_cpu())
    throw Error(ErrorKind::not_supported, "gradients of Debye poles are not computed on a GPU").hint("run on the CPU");
  impl_->of = of;
  StoragePlan here = plan;
  if (impl_->problem.part) here.layout.box = impl_->box_here(of.padding);
  impl_->budgets = budgets;
  if (here == impl_->plan) return;
  impl_->plan = std::move(here);
  std::visit([](auto& at) { at.trajectory.reset(); }, impl_->machinery);
}

ShotGradient Operator::gradient(const Shot& shot, const Loss& loss, const Stepped& stepped, const Watch& watch) {
  return std::move(gradients(shot, 1, loss, stepped, watch).front());
}

std::vector<ShotGradient> Operator::gradients(const Shot& shots, Index count, const Loss& loss, const Stepped& stepped,
                                              const Watch& watch) {
  return std::visit([&](auto& at) { return impl_->gradients(at, shots, count, loss, stepped, watch); },
                    impl_->machinery);
}

ShotGradient Operator::hessian_product(const Shot& shot, const ComponentChange& change,
                                       std::span<const double> amplitude_changes, const SecondLoss& loss, Hessian which,
                                       const Stepped& stepped) {
  return std::visit(
      [&](auto& at) { return impl_->hessian_product(at, shot, change, amplitude_changes, loss, which, stepped); },
      impl_->machinery);
}

void Operator::add_memory(MemoryPlan& memory, std::size_t sources, std::size_t receivers, const GradientOf* of) const {
  const Grid& grid = impl_->problem.grid;
  const GridPart* const part = impl_->problem.part.get();
  // Rank 0 has the gradient of the whole too.
  const auto nodes = static_cast<std::size_t>(impl_->most_nodes() + (part != nullptr ? part->whole().count() : 0));
  std::size_t lasting = 0;
  if (part != nullptr)
    lasting += memory.add("halos", 2 * impl_->halo_bytes(), "E of neighbours' planes, sent and received");
  if (impl_->settings.device.is_cpu()) lasting += impl_->add_fields(memory, of);
  std::size_t most =
      memory.add("making factors", impl_->forward_bytes().in_preparation, "float64, before the first step");
  const auto inner = static_cast<std::size_t>(inner_steps());
  lasting += memory.add("series", sizeof(double) * inner * (3 * sources + 3 * receivers),
                        fmt::format("{} steps of {} sources and {} receivers", inner, sources, receivers));
  if (of != nullptr) {
    const Wanted wanted = impl_->wanted(*of);
    std::size_t arrays = 0;
    for (const Component c : grid.components())
      arrays += is_electric(c) ? ((wanted.difference ? 1 : 0) + (wanted.sum ? 1 : 0)) * (wanted.squares ? 2 : 1) + 2 +
                                     (wanted.poles ? 2 * impl_->problem.medium.poles.size() : 0)
                : wanted.magnetic ? 2
                                  : 0;
    most = std::max(most, memory.add("gradient of a shot", sizeof(double) * nodes * arrays, "float64"));
  }
  memory.lasting_bytes += lasting;
  memory.peak_bytes += lasting + most;
}

void Operator::add_born_memory(MemoryPlan& memory) const {
  std::size_t more = memory.add("fields and factors of the change", 2 * impl_->forward_bytes().lasting,
                                "with the fields of the background before a step, at most");
  // The change of eps_r and sigma at every node, and what a step makes of it.
  std::size_t arrays = 0;
  for (const Component c : impl_->problem.grid.components()) arrays += is_electric(c) ? 4 : 1;
  more += memory.add("change of the medium", sizeof(double) * arrays * static_cast<std::size_t>(impl_->most_nodes()),
                     "float64");
  memory.lasting_bytes += more;
  memory.peak_bytes += more;
}

void Operator::add_device_memory(MemoryPlan& memory, std::size_t sources, std::size_t receivers,
                                 const GradientOf* of) const {
  const auto inner = static_cast<std::size_t>(inner_steps());
  const std::size_t held =
      impl_->add_fields(memory, of) +
      memory.add("series", sizeof(double) * (inner + 1) * (sources + receivers),
                 fmt::format("{} steps of {} sources and {} receivers", inner, sources, receivers));
  memory.lasting_bytes += held;
  memory.peak_bytes += held;
}

}  // namespace sonde::maxwell
