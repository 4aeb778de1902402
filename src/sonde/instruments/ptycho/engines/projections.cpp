// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/projections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/engines/device_projections.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

void describe_common(ProjectionSettings& settings, Fields& fields) {
  fields.add("relax", settings.relax,
             {.help = "power bound of the modulus projection; 0 projects fully", .min = 0, .changeable = true});
  fields.add("keep_object", settings.keep_object,
             {.help = "share of the mean illumination with which the old object counts", .min = 0, .changeable = true});
  fields.add("keep_probe", settings.keep_probe, {.help = "the same for the probe", .min = 0, .changeable = true});
  fields.add("rounds", settings.rounds, {.help = "object and probe in turn, at most", .min = 1});
  fields.add("probe_change", settings.probe_change,
             {.help = "rounds end when the probe changes by less than this share", .min = 0, .changeable = true});
}

/// The power bound of a frame: 0.25 relax^2 max_j (counts of frame j) / measured pixels.
template <class Real>
double power_bound(const Workbench<Real>& bench, double relax) {
  const Measurement& measurement = bench.model().measurement();
  double most = 0;
  for (const CountSums& sums : measurement.sums()) most = std::max(most, sums.counts);
  bench.largest({&most, 1});
  return 0.25 * relax * relax * most / measurement.sums().front().pixels;
}

ProjectionSettings with(ProjectionSettings settings, double a, double b, double c) {
  settings.a = a;
  settings.b = b;
  settings.c = c;
  return settings;
}

}  // namespace

void ProjectionSettings::describe(Fields& fields) {
  fields.add("a", a, {.help = "weight of the object's waves", .changeable = true});
  fields.add("b", b, {.help = "weight of the measured moduli's waves", .changeable = true});
  fields.add("c", c,
             {.help = "how far the object's waves are reflected before the moduli are set", .changeable = true});
  describe_common(*this, fields);
}
void DmSettings::describe(Fields& fields) {
  fields.add("alpha", alpha,
             {.help = "1: difference map, 0: alternating projections", .min = 0, .max = 1, .changeable = true});
  describe_common(*this, fields);
}
void RaarSettings::describe(Fields& fields) {
  fields.add("beta", beta, {.help = "relaxation", .min = 0, .max = 1, .changeable = true});
  describe_common(*this, fields);
}
void RrrSettings::describe(Fields& fields) {
  fields.add("gamma", gamma, {.help = "relaxation", .min = 0, .max = 2, .changeable = true});
  describe_common(*this, fields);
}
void ApSettings::describe(Fields& fields) { describe_common(*this, fields); }

MemoryNeed ProjectionSettings::memory(const WorkSizes& sizes, const BatchSizes& scan) const {
  const std::size_t sums = sums_bytes(sizes, scan), wave = sizes.wave_bytes();
  if (sizes.wave_tier == Tier::device) return {sums + wave, "sums, band tiles"};
  const bool here = sizes.wave_tier == Tier::host;
  // Waves that do not lie in memory as they are come to a room of each thread.
  const bool in_place = here && sizes.wave_encoding == Encoding::raw;
  const std::size_t rooms = in_place ? 0 : static_cast<std::size_t>(sizes.threads);
  return {sums + (1 + rooms) * wave + (here ? sizes.kept_bytes() : 0),
          fmt::format("exit waves of {} frames{}, sums, band tiles", sizes.frames, here ? "" : " on the disk")};
}

MemoryNeed ProjectionSettings::memory_there(const WorkSizes& sizes, const BatchSizes&, Index) const {
  return {static_cast<std::size_t>(sizes.frames) * sizes.wave_bytes(),
          fmt::format("exit waves of {} frames", sizes.frames)};
}

ProjectionSettings weights_of(const DmSettings& settings) {
  return with(settings, -settings.alpha, 1, 1 + settings.alpha);
}
ProjectionSettings weights_of(const RaarSettings& settings) {
  return with(settings, 1 - 2 * settings.beta, settings.beta, 2);
}
ProjectionSettings weights_of(const RrrSettings& settings) {
  return with(settings, -settings.gamma, settings.gamma, 2);
}
ProjectionSettings weights_of(const ApSettings& settings) { return with(settings, 0, 1, 1); }

template <class Real>
Projections<Real>::Projections(const ProjectionSettings& settings, Workbench<Real>& bench)
    : settings_(settings),
      bound_(power_bound(bench, settings.relax)),
      modes_(bench.model().modes()),
      rows_(bench.model().rows()),
      cols_(bench.model().cols()) {
  const Model<Real>& model = bench.model();
  State& state = bench.state();
  const WorkLimits& limits = bench.limits();
  if (DevicePass<Real>* there = bench.device_pass()) {
    if (limits.wave_encoding != Encoding::raw)
      throw Error(ErrorKind::not_supported, "a GPU keeps exit waves in full")
          .hint("compute.waves = \"full\", or use " + setting("device", "cpu"));
    there_ = std::make_unique<DeviceProjections<Real>>(*there, model, bench.active(), settings_, bound_);
    summed_probe_ = state.probe.clone();
    return;
  }
  waves_ = std::make_shared<Store>(limits.budgets ? *limits.budgets : TierBudgets::unlimited(), stream_,
                                   StoreOptions{.count = model.measurement().count(),
                                                .slot_size = modes_ * rows_ * cols_,
                                                .dtype = dtype_of<Complex>,
                                                .encoding = limits.wave_encoding,
                                                .tier = limits.wave_tier,
                                                .what = "exit waves"});
  bench.pass().announce_to([kept = std::weak_ptr(waves_)](std::span<const Index> frames) {
    if (const std::shared_ptr<Store> waves = kept.lock()) waves->will_read(frames);
  });
  // The first waves are those of the first estimate.
  bench.pass().run(state, bench.active(), {.object = true, .probe = false}, sums_,
                   [&](Index frame, Exposure<Real>& exposure) {
                     exposure.forward(state, bench.spectrum(), frame);
                     const Index count = model.modes() * model.pixels();
                     Complex* first = waves_->template in_place<Complex>(frame);
                     if (first != nullptr) std::copy(exposure.waves(), exposure.waves() + count, first);
                     if (first == nullptr) keep(frame, exposure.waves());
                     take_kept(frame, exposure);
                     exposure.back();
                   });
  summed_probe_ = state.probe.clone();
}

template <class Real>
Projections<Real>::~Projections() = default;

template <class Real>
void Projections<Real>::take_weights(const ProjectionSettings& settings, Workbench<Real>& bench) {
  settings_ = settings;
  bound_ = power_bound(bench, settings.relax);
  if (there_) there_->take(settings_, bound_);
}

template <class Real>
std::complex<Real>* Projections<Real>::waves_of(Index frame, Exposure<Real>& exposure) {
  if (Complex* place = waves_->template in_place<Complex>(frame)) return place;
  waves_->get(frame, View<Complex, 3>(exposure.others(), modes_, rows_, cols_), stream_);
  return exposure.others();
}

template <class Real>
void Projections<Real>::keep(Index frame, Complex* waves) {
  if (waves_->template in_place<Complex>(frame) == nullptr)
    waves_->put(frame, View<Complex, 3>(waves, modes_, rows_, cols_), stream_);
}

template <class Real>
std::vector<EngineMemory> Projections<Real>::memory() {
  return {{.name = "waves",
           .array = there_ ? &there_->kept() : nullptr,
           .store = waves_.get(),
           .slot = Shape{modes_, rows_, cols_}}};
}

template <class Real>
void Projections<Real>::take_kept(Index frame, Exposure<Real>& exposure) {
  const Real scale = Real(1) / static_cast<Real>(rows_ * cols_);
  const Complex* from = waves_of(frame, exposure);
  for (Index i = 0; i < modes_ * rows_ * cols_; ++i) exposure.waves()[i] = scale * from[i];
}

template <class Real>
void Projections<Real>::bring(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure) {
  exposure.aim(bench.state(), bench.spectrum(), frame);
  take_kept(frame, exposure);
  exposure.back();
}

/// Looks at no interrupt: waves and positions change together.
template <class Real>
void Projections<Real>::positions_changed(Workbench<Real>& bench, std::span<const Placement> from) {
  state_changed();
  const std::vector<Placement>& now = bench.state().placements;
  if (there_) return there_->shift_waves(from, now);
  const std::vector<Index>& active = bench.active();
  parallel_for(static_cast<Index>(active.size()), 1, [&](Index first, Index last, Worker&) {
    std::vector<Complex> ramp_row(static_cast<std::size_t>(rows_)), ramp_col(static_cast<std::size_t>(cols_));
    std::vector<Complex> room;  // of waves that lie elsewhere
    for (Index i = first; i < last; ++i) {
      const Index frame = active[static_cast<std::size_t>(i)];
      const Placement &before = from[static_cast<std::size_t>(frame)], &after = now[static_cast<std::size_t>(frame)];
      const double down = after.shift_row - before.shift_row, across = after.shift_col - before.shift_col;
      if (down == 0 && across == 0) continue;
      cpu::fill_ramp<Real>(down, ramp_row);
      cpu::fill_ramp<Real>(across, ramp_col);
      Complex* waves = waves_->template in_place<Complex>(frame);
      if (waves == nullptr) {
        room.resize(static_cast<std::size_t>(modes_ * rows_ * cols_));
        waves = room.data();
        waves_->get(frame, View<Complex, 3>(waves, modes_, rows_, cols_), stream_);
      }
      for (Index m = 0; m < modes_; ++m) {
        Complex* wave = waves + m * rows_ * cols_;
        cpu::ramp(wave, ramp_row.data(), ramp_col.data(), Real(1), false, rows_, cols_, wave);
      }
      keep(frame, waves);
    }
  });
}

template <class Real>
void Projections<Real>::sum_for_object(Workbench<Real>& bench) {
  if (there_) return there_->sum_for_object();
  bench.pass().run(bench.state(), bench.active(), {.object = true, .probe = false}, sums_,
                   [&](Index frame, Exposure<Real>& exposure) { bring(bench, frame, exposure); });
}

/// What the waves are more than P O, so that shifting back does not change what fits already: conj(O) psi and |O|^2 do
/// not shift alike between pixels.
template <class Real>
void Projections<Real>::sum_for_probe(Workbench<Real>& bench) {
  if (there_) return there_->sum_for_probe();
  const Model<Real>& model = bench.model();
  bench.pass().run(bench.state(), bench.active(), {.object = false, .probe = true}, sums_,
                   [&](Index frame, Exposure<Real>& exposure) {
                     bring(bench, frame, exposure);
                     cpu::subtract_product<Real>(exposure.window(0), exposure.incident(0), exposure.waves(),
                                                 model.modes());
                   });
}

template <class Real>
void Projections<Real>::solve_object(Workbench<Real>& bench) {
  if (there_) return there_->solve_object();
  State& state = bench.state();
  const auto numerator = sums_.object.view<Complex, 3>();
  const auto weight = sums_.object_weight.view<Real, 3>();
  const auto object = state.object.view<Complex, 3>();
  double mean = 0;
  if (bench.share() != nullptr) {
    mean = bench.share()->template mean<Real>(sums_.object_weight);
  } else {
    for (Index i = 0; i < weight.count(); ++i) mean += static_cast<double>(weight.data[i]);
    mean /= static_cast<double>(weight.count());
  }
  const Real keep = static_cast<Real>(settings_.keep_object * mean);
  const bool potential = state.type == ObjectType::potential;
  Real* phase = potential ? state.phase.view<Real, 3>().data : nullptr;
  parallel_for(object.count(), 4096, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      Complex& o = object.data[i];
      const Real divisor = keep + weight.data[i];
      if (!(divisor > 0)) continue;
      const Complex best = (keep * o + numerator.data[i]) / divisor;
      if (!potential) {
        o = best;
        continue;
      }
      phase[i] += std::arg(best * std::conj(o));
      o = {std::cos(phase[i]), std::sin(phase[i])};
    }
  });
}

template <class Real>
double Projections<Real>::solve_probe(Workbench<Real>& bench) {
  if (there_) return there_->solve_probe();
  State& state = bench.state();
  const auto numerator = sums_.probe.view<Complex, 3>();
  const auto weight = sums_.probe_weight.view<Real, 2>();
  const auto probe = state.probe.view<Complex, 3>();
  const Index pixels = weight.count();
  double mean = 0, change = 0, power = 0;
  for (Index i = 0; i < pixels; ++i) mean += static_cast<double>(weight.data[i]);
  const Real keep = static_cast<Real>(settings_.keep_probe * mean / static_cast<double>(pixels));
  for (Index i = 0; i < probe.count(); ++i) {
    const Real divisor = keep + weight.data[i % pixels];
    if (!(divisor > 0)) continue;
    const Complex step = numerator.data[i] / divisor;
    change += std::norm(std::complex<double>(step));
    power += std::norm(std::complex<double>(probe.data[i]));
    probe.data[i] += step;
  }
  bench.renew_spectrum();
  return std::sqrt(change / power);
}

template <class Real>
void Projections<Real>::move_waves(Workbench<Real>& bench) {
  if (there_) return there_->move_waves(bench.fit());
  const Model<Real>& model = bench.model();
  const Measurement& measurement = model.measurement();
  const cpu::Projection<Real> by{static_cast<Real>(settings_.a), static_cast<Real>(settings_.b),
                                 static_cast<Real>(settings_.c), static_cast<Real>(bound_)};
  const Real scale = Real(1) / static_cast<Real>(model.pixels());
  bench.pass().run(bench.state(), bench.active(), {.object = true, .probe = false}, sums_,
                   [&](Index frame, Exposure<Real>& exposure) {
                     exposure.forward(bench.state(), bench.spectrum(), frame);
                     bench.fit()[static_cast<std::size_t>(frame)] = exposure.residual(frame, /*change=*/false);
                     Complex* stored = waves_of(frame, exposure);
                     cpu::project<Real>(by, {exposure.amplitudes(frame), measurement.weights<Real>()}, model.eps(),
                                        scale, scale, exposure.waves(), stored, model.modes(), model.pixels());
                     keep(frame, stored);
                     // The sums are of the waves that a checkpoint keeps.
                     if (waves_->options().encoding != Encoding::raw) take_kept(frame, exposure);
                     exposure.back();
                   });
}

template <class Real>
void Projections<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  DevicePass<Real>* there = bench.device_pass();  // with the estimate as it is
  const bool same_probe = std::memcmp(summed_probe_.data(), state.probe.data(), state.probe.allocated_bytes()) == 0;
  if (!same_probe) sum_for_object(bench);
  for (Index round = 0; round < settings_.rounds; ++round) {
    bench.check_interrupt();
    if (round > 0) sum_for_object(bench);
    if (iteration.object_free) solve_object(bench);
    if (!iteration.probe_free) break;
    sum_for_probe(bench);
    const double change = solve_probe(bench);
    if (change < settings_.probe_change) break;
  }
  move_waves(bench);
  if (there != nullptr) there->give(state);
  summed_probe_ = state.probe.clone();
}

template class Projections<float>;
template class Projections<double>;

}  // namespace sonde::ptycho
