// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gprmax_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/run/operator.h"
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
      if (t >= source.start && t <= source.stop) made[n] = signal.at(t - source.start);
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

double highest_frequency(const GprmaxInput& input) {
  const Waveforms waveforms(input, input.time_step());
  double highest = 0;
  for (const GprmaxSource& source : input.sources)
    highest = std::max(highest, waveforms.highest_frequency_of(source.waveform));
  return highest;
}

struct GprmaxRun::Impl {
  GprmaxInput input;
  GprmaxModel model;
  Index runs;
  Operator waves;
  RunPlan plan;

  // gprMax records before step n what step n - 1 has left: a step less gives all samples but the first, which is zero.
  Impl(const GprmaxInput& in, GprmaxModel from, const GprmaxRunOptions& options)
      : input(in),
        model(std::move(from)),
        runs(options.runs),
        waves(
            problem_of(model, options), model.pml, 0,
            {.dt = model.dt, .steps = model.iterations - 1, .precision = options.precision, .device = options.device}) {
    plan = plan_run(waves, highest_frequency(input));
    divide(waves, options.processes, plan);
    plan.warnings = model.warnings;
    plan_memory();
  }

  [[nodiscard]] const Problem& problem() const { return waves.problem(); }

  std::size_t add_medium(MemoryPlan& memory) const {
    if (problem().part) return maxwell::add_medium(waves, memory);
    const std::size_t medium = memory.add("medium", gprmax_model_bytes(input),
                                          fmt::format("{} components, float64", problem().grid.components().size()));
    memory.lasting_bytes += medium;
    memory.peak_bytes += medium;
    return 0;
  }

  void plan_memory() {
    MemoryPlan& memory = plan.memory;
    std::size_t points = 0;
    for (const GprmaxReceiverPoint& receiver : model.acquisition.receivers) points += receiver.outputs.size();
    const std::size_t dividing = add_medium(memory);
    // Of every run, as they are kept and as they are written.
    const std::size_t traces =
        memory.add("traces", 3 * sizeof(double) * static_cast<std::size_t>(runs * model.iterations) * points,
                   fmt::format("{} iterations of {} components, {} runs", model.iterations, points, runs));
    memory.lasting_bytes += traces;
    memory.peak_bytes += traces;
    waves.add_memory(memory, model.acquisition.sources.size(), points);
    memory.peak_bytes = std::max(memory.peak_bytes, dividing);
    if (!waves.settings().device.is_cpu())
      waves.add_device_memory(plan.device_memory, model.acquisition.sources.size(), points);
  }

  /// A density is what the file's source gives; the propagator divides a moment by the volume of a cell.
  [[nodiscard]] double moment_of(const GprmaxSourcePoint& source) const {
    return source.scale * (is_hard(source) ? 1 : waves.grid().cell_volume());
  }

  [[nodiscard]] Shot shot_of(const GprmaxAcquisition& acquisition) const {
    const Grid& grid = waves.grid();
    const auto node = [&](const Triple& at) { return grid.index(at[0], at[1], at[2]); };
    const Waveforms waveforms(input, model.dt);
    Shot shot;
    for (const GprmaxSourcePoint& source : acquisition.sources) {
      shot.points.sources.push_back({source.component, {{node(source.at)}}, is_hard(source)});
      for (const double sample : waveforms.sampled(source, model.iterations - 1))
        shot.amplitudes.push_back(sample * moment_of(source));
    }
    for (const GprmaxReceiverPoint& receiver : acquisition.receivers)
      for (const Component users : receiver.outputs)
        if (const auto c = model.component(users)) shot.points.receivers.push_back({*c, {{node(receiver.at)}}});
    return shot;
  }

  [[nodiscard]] GprmaxRecord record(Index which, std::span<const double> recorded) const {
    GprmaxRecord made{acquisition_of_run(model, which), {}};
    auto next = recorded.begin();
    for (const GprmaxReceiverPoint& receiver : made.acquisition.receivers) {
      auto& traces = made.traces.emplace_back();
      for (const Component users : receiver.outputs) {
        GprmaxTrace& trace = traces.emplace_back(GprmaxTrace{users, std::vector<double>(1)});
        if (model.component(users)) {
          trace.samples.insert(trace.samples.end(), next, next + (model.iterations - 1));
          next += model.iterations - 1;
        }
        trace.samples.resize(static_cast<std::size_t>(model.iterations));
      }
    }
    return made;
  }
};

GprmaxRun::GprmaxRun(const GprmaxInput& input, GprmaxModel model, const GprmaxRunOptions& options)
    : impl_(std::make_unique<Impl>(input, std::move(model), options)) {}
GprmaxRun::~GprmaxRun() = default;
GprmaxRun::GprmaxRun(GprmaxRun&&) noexcept = default;

const GprmaxModel& GprmaxRun::model() const { return impl_->model; }
const RunPlan& GprmaxRun::plan() const { return impl_->plan; }
Index GprmaxRun::cells() const { return impl_->waves.grid().count(); }
Index GprmaxRun::steps() const { return impl_->waves.inner_steps(); }
Operator& GprmaxRun::waves() { return impl_->waves; }
Shot GprmaxRun::shot(Index which) const { return impl_->shot_of(acquisition_of_run(impl_->model, which)); }
double GprmaxRun::moment_of(const GprmaxSourcePoint& source) const { return impl_->moment_of(source); }
std::size_t GprmaxRun::add_medium(MemoryPlan& memory) const { return impl_->add_medium(memory); }
std::vector<double> GprmaxRun::samples(Index which, const std::function<void()>& stepped, const Watch& watch) {
  return impl_->waves.forward(shot(which), stepped, watch);
}
GprmaxRecord GprmaxRun::record(Index which, std::span<const double> samples) const {
  return impl_->record(which, samples);
}

}  // namespace sonde::maxwell
