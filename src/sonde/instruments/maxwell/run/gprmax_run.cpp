// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gprmax_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/signal/resample.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {
namespace {

/// A waveform of the file at its times: electric sources at n dt, magnetic ones half a step later, as gprMax takes
/// them.
class Waveforms {
 public:
  Waveforms(const GprmaxInput& input, double dt) : input_(input), dt_(dt) {}

  [[nodiscard]] std::vector<double> sampled(const GprmaxSourcePoint& source, Index count) const {
    const double offset = source.kind == GprmaxSourceKind::magnetic_dipole ? 0.5 : 0;
    std::vector<double> made(static_cast<std::size_t>(count));
    for (std::size_t n = 0; n < made.size(); ++n) {
      const double t = (static_cast<double>(n) + offset) * dt_;
      if (t >= source.start && t <= source.stop) made[n] = at(source.waveform, t - source.start) * source.scale;
    }
    return made;
  }

  /// Its highest frequency whatever part of it a run lasts: what a short window cuts off would count as high ones.
  [[nodiscard]] double highest_frequency_of(const std::string& id) const {
    Index count = 0;
    for (const std::vector<double>& column : input_.excitation.values)
      count = std::max(count, std::min<Index>(input_.iterations(), 16 * static_cast<Index>(column.size())));
    for (const GprmaxWaveform& each : input_.waveforms)
      if (each.id == id)  // every pulse is over after four periods
        count = each.frequency > 0 ? static_cast<Index>(std::ceil(4 / (each.frequency * dt_))) : 1;
    std::vector<double> whole(static_cast<std::size_t>(std::clamp<Index>(count, 1, Index{1} << 20U)));
    for (std::size_t n = 0; n < whole.size(); ++n) whole[n] = at(id, static_cast<double>(n) * dt_);
    return highest_frequency(whole, dt_);
  }

 private:
  [[nodiscard]] double at(const std::string& id, double t) const {
    for (const GprmaxWaveform& each : input_.waveforms)
      if (each.id == id)
        return value(Wavelet{.family = WaveletFamily::gprmax,
                             .name = each.type,
                             .frequency = each.frequency,
                             .amplitude = each.amplitude},
                     t, dt_);
    return in_table(id, t);
  }

  [[nodiscard]] double in_table(const std::string& id, double t) const {
    const GprmaxExcitation& table = input_.excitation;
    const auto column = static_cast<std::size_t>(std::find(table.ids.begin(), table.ids.end(), id) - table.ids.begin());
    if (column == table.ids.size()) throw Error(ErrorKind::bad_file, fmt::format("waveform \"{}\" is not defined", id));
    const std::vector<double>& values = table.values[column];
    const auto time = [&](std::size_t i) {
      return table.times.empty() ? static_cast<double>(i) * dt_ : table.times[i];
    };
    const std::size_t last = values.size() - 1;
    const bool outside = t < time(0) || t > time(last);
    if (last == 0 || (outside && !table.extrapolate)) return outside ? 0 : values[0];
    std::size_t i = 0;  // the piece that holds t, or the end that is continued
    while (i + 2 <= last && t > time(i + 1)) ++i;
    return values[i] + (values[i + 1] - values[i]) * (t - time(i)) / (time(i + 1) - time(i));
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

/// The largest permittivity that waves of this frequency see: with the poles' share.
double slowest_permittivity(const ComponentMedium& medium, double frequency) {
  double most = 1;
  const double omega = 2 * std::acos(-1.0) * frequency;
  for (std::size_t e = 0; e < 3; ++e)
    for (std::size_t i = 0; i < medium.eps_r[e].size(); ++i) {
      if (std::isinf(medium.sigma[e][i])) continue;
      double eps_r = medium.eps_r[e][i];
      for (const DebyePole& pole : medium.poles)
        eps_r += pole.deps[e][i] / (1 + omega * omega * pole.tau[e][i] * pole.tau[e][i]);
      most = std::max(most, eps_r);
    }
  return most;
}

double largest_permeability(const ComponentMedium& medium) {
  double most = 1;
  for (const auto& mu_r : medium.mu_r)
    if (!mu_r.empty()) most = std::max(most, *std::max_element(mu_r.begin(), mu_r.end()));
  return most;
}

double coarsest_spacing(const Grid& grid) {
  double most = 0;
  for (const Axis axis : all_axes)
    if (grid.has(axis)) most = std::max(most, grid.spacing(axis));
  return most;
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
    if (source.kind == GprmaxSourceKind::voltage_source && source.resistance == 0)
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
    const double v = c0 / std::sqrt(slowest_permittivity(problem.medium, plan.highest_frequency) *
                                    largest_permeability(problem.medium));
    plan.cells_per_wavelength = v / plan.highest_frequency / coarsest_spacing(problem.grid);
    plan.velocity_along_axis = phase_velocity_ratio(problem.grid, plan.dt, v, plan.highest_frequency, {0, 0, 1});
    plan.velocity_along_diagonal =
        phase_velocity_ratio(problem.grid, plan.dt, v, plan.highest_frequency, diagonal(problem.grid));
  }

  void plan_memory() {
    const std::size_t poles = problem.medium.poles.size();
    const auto bytes = precision == Precision::f32
                           ? std::pair(Propagator<float>::bytes_for(problem.grid, poles).lasting,
                                       Propagator<float>::bytes_for(problem.grid, poles).in_preparation)
                           : std::pair(Propagator<double>::bytes_for(problem.grid, poles).lasting,
                                       Propagator<double>::bytes_for(problem.grid, poles).in_preparation);
    MemoryPlan& memory = plan.memory;
    const std::size_t medium = memory.add("medium", gprmax_model_bytes(input),
                                          fmt::format("{} components, float64", problem.grid.components().size()));
    const std::size_t fields =
        memory.add("fields and factors", bytes.first, fmt::format("{} cells, at most", problem.grid.count()));
    const std::size_t making = memory.add("making factors", bytes.second, "float64, before the first step");
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

  static bool is_hard(const GprmaxSourcePoint& source) {
    return source.kind == GprmaxSourceKind::voltage_source && source.resistance == 0;
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
    fields.run(shot, inner_steps(), given, made, [&](Index, Propagator<T>&) {
      if (stepped) stepped();
    });
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
