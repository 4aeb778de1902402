// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gprmax_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/signal/resample.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {
namespace {

/// A voltage source without resistance sets the field of its edge.
bool is_hard(const GprmaxSourcePoint& source) {
  return source.kind == GprmaxSourceKind::voltage_source && source.resistance == 0;
}

/// The waveforms of a file, by their ids.
class Waveforms {
 public:
  Waveforms(const GprmaxInput& input, double dt) : input_(input), dt_(dt) {}

  /// At the times of a source: currents at n dt, magnetic ones and voltages that set the field half a step later, as
  /// gprMax takes them.
  [[nodiscard]] std::vector<double> sampled(const GprmaxSourcePoint& source, Index count) const {
    const Signal signal = signal_of(source.waveform);
    const double offset = source.kind == GprmaxSourceKind::magnetic_dipole || is_hard(source) ? 0.5 : 0;
    std::vector<double> made(static_cast<std::size_t>(count));
    for (std::size_t n = 0; n < made.size(); ++n) {
      const double t = (static_cast<double>(n) + offset) * dt_;
      if (t >= source.start && t <= source.stop) made[n] = signal.at(t - source.start) * source.scale;
    }
    return made;
  }

  /// Whatever part of it a run lasts: what a short window cuts off would count as high frequencies.
  [[nodiscard]] double highest_frequency_of(const std::string& id) const {
    const Signal signal = signal_of(id);
    std::vector<double> whole(static_cast<std::size_t>(
        std::clamp<Index>(static_cast<Index>(std::ceil(std::min(signal.lasts / dt_, 1e9))), 1, Index{1} << 20U)));
    for (std::size_t n = 0; n < whole.size(); ++n) whole[n] = signal.at(static_cast<double>(n) * dt_);
    return highest_frequency(whole, dt_);
  }

 private:
  struct Signal {
    std::function<double(double t)> at;
    double lasts = 0;  ///< s
  };

  [[nodiscard]] Signal signal_of(const std::string& id) const {
    for (const GprmaxWaveform& each : input_.waveforms) {
      if (each.id != id) continue;
      const Wavelet wavelet{
          .family = WaveletFamily::gprmax, .name = each.type, .frequency = each.frequency, .amplitude = each.amplitude};
      // Every pulse is over after four periods.
      return {[wavelet, dt = dt_](double t) { return value(wavelet, t, dt); },
              each.frequency > 0 ? 4 / each.frequency : dt_};
    }
    const WaveletTable table = table_of(id);
    return {[table](double t) { return value(table, t); }, std::min(table.times.back(), input_.window())};
  }

  [[nodiscard]] WaveletTable table_of(const std::string& id) const {
    const GprmaxExcitation& from = input_.excitation;
    const auto column = static_cast<std::size_t>(std::find(from.ids.begin(), from.ids.end(), id) - from.ids.begin());
    if (column == from.ids.size()) throw Error(ErrorKind::bad_file, fmt::format("waveform \"{}\" is not defined", id));
    WaveletTable made{id, from.times, from.values[column]};
    for (std::size_t n = made.times.size(); n < made.values.size(); ++n)
      made.times.push_back(static_cast<double>(n) * dt_);
    if (from.extrapolate && made.times.size() > 1) continue_ends(made);
    return made;
  }

  /// The first and the last piece go on for as long as a run lasts.
  void continue_ends(WaveletTable& table) const {
    const double more = input_.window() + dt_;
    const auto slope = [&](std::size_t i) {
      return (table.values[i + 1] - table.values[i]) / (table.times[i + 1] - table.times[i]);
    };
    const double first = slope(0), last = slope(table.times.size() - 2);
    table.times.insert(table.times.begin(), table.times.front() - more);
    table.values.insert(table.values.begin(), table.values.front() - first * more);
    table.times.push_back(table.times.back() + more);
    table.values.push_back(table.values.back() + last * more);
  }

  const GprmaxInput& input_;
  double dt_;
};

/// A series through one of the two resamplings.
template <class Resample>
std::vector<double> resampled(const Resample& resample, Index ratio, double offset, std::vector<double> in,
                              std::size_t count) {
  std::vector<double> out(count);
  resample({.ratio = ratio}, offset, View<const double, 2>(in.data(), 1, static_cast<Index>(in.size())),
           View<double, 2>(out.data(), 1, static_cast<Index>(count)));
  return out;
}

std::array<double, 3> diagonal(const Grid& grid) {
  std::array<double, 3> made{};
  double axes = 0;
  for (const Axis axis : all_axes) axes += grid.has(axis) ? 1 : 0;
  for (const Axis axis : all_axes) made[dimension(axis)] = grid.has(axis) ? 1 / std::sqrt(axes) : 0;
  return made;
}

Problem problem_of(GprmaxModel& model, const GprmaxRunOptions& options) {
  GridSpec spec = model.grid;
  spec.order = options.order;
  Problem made{Grid(spec), std::move(model.medium), {}, model.dt};
  // The field of a voltage source without resistance is set: its node is a conductor otherwise.
  for (const GprmaxSourcePoint& source : model.acquisition.sources)
    if (is_hard(source))
      made.medium.sigma[place(source.component)]
                       [static_cast<std::size_t>(made.grid.index(source.at[0], source.at[1], source.at[2]))] =
          std::numeric_limits<double>::infinity();
  return made;
}

}  // namespace

struct GprmaxRun::Impl {
  GprmaxInput input;
  GprmaxModel model;
  Precision precision;
  Index runs;
  Problem problem;
  GprmaxPlan plan;
  std::variant<std::monostate, Propagator<float>, Propagator<double>> propagator{};

  Impl(const GprmaxInput& in, GprmaxModel from, const GprmaxRunOptions& options)
      : input(in),
        model(std::move(from)),
        precision(options.precision),
        runs(options.runs),
        problem(problem_of(model, options)) {
    // The limit of a model of vacuum is dt itself but for rounding.
    plan.ratio = static_cast<Index>(std::ceil(model.dt / largest_time_step(problem.grid, problem.medium) - 1e-9));
    plan.ratio = std::max<Index>(plan.ratio, 1);
    plan.dt = problem.dt = model.dt / static_cast<double>(plan.ratio);
    problem.pml = pml_profiles(problem.grid, problem.medium, model.pml, plan.dt, 0);
    plan.warnings = model.warnings;
    plan_sampling();
    plan_memory();
  }

  void plan_sampling() {
    const Waveforms waveforms(input, model.dt);
    for (const GprmaxSourcePoint& source : model.acquisition.sources)
      plan.highest_frequency = std::max(plan.highest_frequency, waveforms.highest_frequency_of(source.waveform));
    plan.least_cells_per_wavelength = problem.grid.order() == 2 ? 5 : 3;
    if (plan.highest_frequency == 0) return;
    const double v = slowest_velocity(problem.grid, problem.medium, plan.highest_frequency);
    plan.cells_per_wavelength = cells_per_wavelength(problem.grid, v, plan.highest_frequency);
    plan.velocity_along_axis = phase_velocity_ratio(problem.grid, plan.dt, v, plan.highest_frequency, {0, 0, 1});
    plan.velocity_along_diagonal =
        phase_velocity_ratio(problem.grid, plan.dt, v, plan.highest_frequency, diagonal(problem.grid));
  }

  void plan_memory() {
    const std::size_t poles = problem.medium.poles.size();
    const PropagatorBytes bytes = precision == Precision::f32 ? Propagator<float>::bytes_for(problem.grid, poles)
                                                              : Propagator<double>::bytes_for(problem.grid, poles);
    MemoryPlan& memory = plan.memory;
    const std::size_t medium = memory.add("medium", gprmax_model_bytes(input),
                                          fmt::format("{} components, float64", problem.grid.components().size()));
    const std::size_t fields =
        memory.add("fields and factors", bytes.lasting, fmt::format("{} cells, at most", problem.grid.count()));
    const std::size_t making = memory.add("making factors", bytes.in_preparation, "float64, before the first step");
    std::size_t points = 0;
    for (const GprmaxReceiverPoint& receiver : model.acquisition.receivers) points += receiver.outputs.size();
    // A run's amplitudes and record at its inner steps; of every run the traces, as they are kept and as they are
    // written.
    const auto inner = static_cast<std::size_t>(inner_steps()), sources = model.acquisition.sources.size();
    const auto kept = static_cast<std::size_t>(runs * model.iterations);
    const std::size_t traces =
        memory.add("traces", sizeof(double) * (inner * (2 * sources + points) + 3 * kept * points),
                   fmt::format("{} steps of {} sources and {} components, {} runs", inner, sources, points, runs));
    memory.lasting_bytes = medium + fields + traces;
    memory.peak_bytes = medium + fields + traces + making;
  }

  template <class T>
  Propagator<T>& ready() {
    if (!std::holds_alternative<Propagator<T>>(propagator)) propagator.template emplace<Propagator<T>>(problem);
    return std::get<Propagator<T>>(propagator);
  }

  [[nodiscard]] Index inner_steps() const { return (model.iterations - 1) * plan.ratio; }

  /// Amplitudes of the propagator at its steps, [step][source].
  [[nodiscard]] std::vector<double> amplitudes(const GprmaxAcquisition& acquisition) const {
    const Waveforms waveforms(input, model.dt);
    const auto steps = static_cast<std::size_t>(inner_steps()), sources = acquisition.sources.size();
    std::vector<double> made(steps * sources);
    for (std::size_t s = 0; s < sources; ++s) {
      const GprmaxSourcePoint& source = acquisition.sources[s];
      std::vector<double> samples = waveforms.sampled(source, model.iterations - 1);
      // A density is what the file's source gives; the propagator divides a moment by the volume of a cell.
      for (double& sample : samples) sample *= is_hard(source) ? 1 : problem.grid.cell_volume();
      const double offset = source.kind == GprmaxSourceKind::magnetic_dipole ? sample_offset::magnetic_source
                                                                             : sample_offset::electric_source;
      samples = resampled(upsample, plan.ratio, offset, std::move(samples), steps);
      for (std::size_t n = 0; n < steps; ++n) made[n * sources + s] = samples[n];
    }
    return made;
  }

  [[nodiscard]] Acquisition shot_of(const GprmaxAcquisition& acquisition) const {
    const auto node = [&](const Triple& at) { return problem.grid.index(at[0], at[1], at[2]); };
    Acquisition shot;
    for (const GprmaxSourcePoint& source : acquisition.sources)
      shot.sources.push_back({source.component, {{node(source.at)}}, is_hard(source)});
    for (const GprmaxReceiverPoint& receiver : acquisition.receivers)
      for (const Component users : receiver.outputs)
        if (const auto c = model.component(users)) shot.receivers.push_back({*c, {{node(receiver.at)}}});
    return shot;
  }

  template <class T>
  [[nodiscard]] std::vector<double> record(const Acquisition& shot, const std::vector<double>& given,
                                           const std::function<void()>& stepped) {
    std::vector<double> made(static_cast<std::size_t>(inner_steps()) * shot.receivers.size());
    Propagator<T>& fields = ready<T>();
    fields.clear();
    fields.run(shot, inner_steps(), given, made, {.after = [&](Index, const Propagator<T>&) {
                 if (stepped) stepped();
               }});
    return made;
  }

  [[nodiscard]] GprmaxRecord run(Index which, const std::function<void()>& stepped) {
    GprmaxRecord made{acquisition_of_run(model, which), {}};
    const Acquisition shot = shot_of(made.acquisition);
    const std::vector<double> given = amplitudes(made.acquisition);
    const std::vector<double> recorded =
        precision == Precision::f32 ? record<float>(shot, given, stepped) : record<double>(shot, given, stepped);
    std::size_t point = 0;
    for (const GprmaxReceiverPoint& receiver : made.acquisition.receivers) {
      auto& traces = made.traces.emplace_back();
      for (const Component users : receiver.outputs) {
        GprmaxTrace& trace = traces.emplace_back(GprmaxTrace{users, {}});
        if (model.component(users))
          trace.samples = as_gprmax(recorded, shot.receivers.size(), point++, is_electric(users));
        else
          trace.samples.assign(static_cast<std::size_t>(model.iterations), 0.0);
      }
    }
    return made;
  }

  /// What gprMax records before step n is what step n - 1 has left.
  [[nodiscard]] std::vector<double> as_gprmax(const std::vector<double>& recorded, std::size_t points,
                                              std::size_t point, bool electric) const {
    std::vector<double> inner(static_cast<std::size_t>(inner_steps()));
    for (std::size_t n = 0; n < inner.size(); ++n) inner[n] = recorded[n * points + point];
    std::vector<double> outer =
        resampled(downsample, plan.ratio, electric ? sample_offset::electric_record : sample_offset::magnetic_record,
                  std::move(inner), static_cast<std::size_t>(model.iterations - 1));
    outer.insert(outer.begin(), 0.0);
    return outer;
  }
};

GprmaxRun::GprmaxRun(const GprmaxInput& input, GprmaxModel model, const GprmaxRunOptions& options)
    : impl_(std::make_unique<Impl>(input, std::move(model), options)) {}
GprmaxRun::~GprmaxRun() = default;
GprmaxRun::GprmaxRun(GprmaxRun&&) noexcept = default;

const GprmaxModel& GprmaxRun::model() const { return impl_->model; }
const GprmaxPlan& GprmaxRun::plan() const { return impl_->plan; }
Index GprmaxRun::cells() const { return impl_->problem.grid.count(); }
Index GprmaxRun::steps() const { return impl_->inner_steps(); }
GprmaxRecord GprmaxRun::run(Index which, const std::function<void()>& stepped) { return impl_->run(which, stepped); }

}  // namespace sonde::maxwell
