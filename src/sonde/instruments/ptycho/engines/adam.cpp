// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/adam.h"

#include <cmath>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/adam_device.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

constexpr double epsilon = 1e-8;

/// How many pixels of the far field the probe lights: (sum I)^2 / sum I^2, exact for a flat aperture.
template <class Real>
double lit_pixels(const Model<Real>& model, const State& state) {
  Array spectrum(Device::cpu(), state.probe.shape(), state.probe.dtype());
  probe_spectrum(model, state.probe, spectrum);
  const auto waves = spectrum.view<std::complex<Real>, 3>();
  double first = 0, second = 0;
  for (Index i = 0; i < model.pixels(); ++i) {
    double intensity = 0;
    for (Index m = 0; m < waves.extent[0]; ++m)
      intensity += std::norm(std::complex<double>(waves.data[m * model.pixels() + i]));
    first += intensity;
    second += intensity * intensity;
  }
  return first * first / second;
}

/// What the running means are worth after `step` steps, and the step they give.
template <class Real>
cpu::AdamRates<Real> rates_of(const AdamSettings& settings, std::int64_t step, double rate) {
  const auto n = static_cast<double>(step);
  return {.beta1 = static_cast<Real>(settings.beta1),
          .beta2 = static_cast<Real>(settings.beta2),
          .correction = static_cast<Real>(1 / (1 - std::pow(settings.beta2, n))),
          .rate = static_cast<Real>(rate / (1 - std::pow(settings.beta1, n))),
          .epsilon = static_cast<Real>(epsilon)};
}

/// The same of a phase, whose gradient and mean are real; the object follows it.
template <class Real>
void phase_step(cpu::AdamRates<Real> by, Real scale, const std::complex<Real>* down, Real* mean, Real* square,
                Real* phase, std::complex<Real>* object, Index count) {
  for (Index i = 0; i < count; ++i) {
    const Real g = 2 * scale * (object[i].real() * down[i].imag() - object[i].imag() * down[i].real());
    mean[i] = by.beta1 * mean[i] + (1 - by.beta1) * g;
    square[i] = by.beta2 * square[i] + (1 - by.beta2) * g * g;
    phase[i] += by.rate / (std::sqrt(by.correction * square[i]) + by.epsilon) * mean[i];
    object[i] = {std::cos(phase[i]), std::sin(phase[i])};
  }
}

constexpr Index piece = 4096;  // elements that one thread moves at a time

}  // namespace

void AdamSettings::describe(Fields& fields) {
  fields.add("rate_object", rate_object,
             {.help = "learning rate of the object, radians or a share of one", .min = 0, .changeable = true});
  fields.add(
      "rate_probe", rate_probe,
      {.help = "learning rate of the probe, in units of its mean aperture amplitude", .min = 0, .changeable = true});
  fields.add("beta1", beta1, {.help = "memory of the mean", .min = 0, .max = 0.999999, .changeable = true});
  fields.add("beta2", beta2, {.help = "memory of the mean square", .min = 0, .max = 0.999999999, .changeable = true});
  batch.describe(fields);
  describe_loss(fields, loss);
}

MemoryNeed AdamSettings::memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const {
  const std::size_t moments = sizes.object_pixels() + static_cast<std::size_t>(sizes.modes) * sizes.pixels();
  return {sums_bytes(sizes, batch_sizes) + 2 * moments * 3 * sizes.real_bytes,
          "sums, band tiles, two moments, and these as the iteration began"};
}

MemoryNeed AdamSettings::memory_there(const WorkSizes& sizes, const BatchSizes&, Index) const {
  // Of a phase the mean is real.
  const std::size_t object = sizes.object_pixels() * sizes.real_bytes * (sizes.potential ? 2 : 3);
  return {object + sizes.wave_bytes() * 3 / 2, "two moments of object and probe"};
}

template <class Real>
Adam<Real>::Adam(const AdamSettings& settings, Workbench<Real>& bench) : settings_(settings) {
  const State& state = bench.state();
  const Device cpu = Device::cpu();
  const auto zeros = [&](const Shape& shape, DType dtype) { return Mirrored(Array::zeros(cpu, shape, dtype)); };
  object_mean_ = zeros(state.object.shape(), state.type == ObjectType::potential ? dtype_of<Real> : dtype_of<Complex>);
  object_square_ = zeros(state.object.shape(), dtype_of<Real>);
  probe_mean_ = zeros(state.probe.shape(), dtype_of<Complex>);
  probe_square_ = zeros(state.probe.shape(), dtype_of<Real>);
  steps_ = zeros(Shape{2}, DType::i64);
  probe_unit_ = Array(cpu, Shape{1}, DType::f64);
  probe_unit_.view<double, 1>()[0] =
      std::sqrt(bench.model().measurement().mean_counts() / lit_pixels(bench.model(), bench.state()));
}

template <class Real>
std::vector<EngineMemory> Adam<Real>::memory() {
  return {{.name = "object_mean", .array = &object_mean_.host(), .on_object = true},
          {.name = "object_square", .array = &object_square_.host(), .on_object = true},
          {"probe_mean", &probe_mean_.host()},
          {"probe_square", &probe_square_.host()},
          {"steps", &steps_.host()},
          {"probe_unit", &probe_unit_}};
}

template <class Real>
void Adam<Real>::move_object(State& state, double scale) {
  const std::int64_t step = ++steps_.host().view<std::int64_t, 1>()[0];
  const auto by = rates_of<Real>(settings_, step, settings_.rate_object);
  const Complex* down = sums_.object.view<Complex, 3>().data;  // minus the gradient
  Complex* object = state.object.view<Complex, 3>().data;
  Real* square = object_square_.host().view<Real, 3>().data;
  const Real factor = static_cast<Real>(scale);
  const bool potential = state.type == ObjectType::potential;
  Real* phase = potential ? state.phase.view<Real, 3>().data : nullptr;
  Real* real_mean = potential ? object_mean_.host().view<Real, 3>().data : nullptr;
  Complex* mean = potential ? nullptr : object_mean_.host().view<Complex, 3>().data;
  parallel_for(state.object.count(), piece, [&](Index first, Index last, Worker&) {
    if (potential)
      phase_step<Real>(by, factor, down + first, real_mean + first, square + first, phase + first, object + first,
                       last - first);
    else
      cpu::adam_step<Real>(by, factor, down + first, mean + first, square + first, object + first, last - first);
  });
}

template <class Real>
void Adam<Real>::move_probe(State& state, double scale) {
  const std::int64_t step = ++steps_.host().view<std::int64_t, 1>()[1];
  const auto by = rates_of<Real>(settings_, step, settings_.rate_probe * probe_unit_.view<double, 1>()[0]);
  const Complex* down = sums_.probe.view<Complex, 3>().data;
  Complex* probe = state.probe.view<Complex, 3>().data;
  Complex* mean = probe_mean_.host().view<Complex, 3>().data;
  Real* square = probe_square_.host().view<Real, 3>().data;
  parallel_for(state.probe.count(), piece, [&](Index first, Index last, Worker&) {
    cpu::adam_step<Real>(by, static_cast<Real>(scale), down + first, mean + first, square + first, probe + first,
                         last - first);
  });
}

template <class Real>
void Adam<Real>::iterate_there(Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration) {
  using Wave = device::Complex<Real>;
  State& state = bench.state();
  Stream& stream = there.stream();
  if (worth_.empty()) worth_ = Array(stream.device(), Shape{4}, DType::f64);
  const bool potential = state.type == ObjectType::potential;
  const auto body = [&](Mirrored& mean, Mirrored& square, Index which) {
    device::AdamStep<Real> step;
    step.active = bench.active_in_all();
    step.count = square.count();
    step.keep_mean = static_cast<Real>(settings_.beta1);
    step.keep_square = static_cast<Real>(settings_.beta2);
    step.epsilon = static_cast<Real>(epsilon);
    step.worth = static_cast<const double*>(worth_.data()) + 2 * which;
    step.square = static_cast<Real*>(square.there(stream).data());
    void* means = mean.there(stream).data();
    if (which == 0 && potential)
      step.real_mean = static_cast<Real*>(means);
    else
      step.mean = static_cast<Wave*>(means);
    return step;
  };
  const auto count = [&](double rate, Index which) {
    return device::NextAdamStep{settings_.beta1, settings_.beta2, rate,
                                static_cast<std::int64_t*>(steps_.there(stream).data()) + which,
                                static_cast<double*>(worth_.data()) + 2 * which};
  };
  const auto of_object = body(object_mean_, object_square_, 0), of_probe = body(probe_mean_, probe_square_, 1);
  const auto next_object = count(settings_.rate_object, 0);
  const auto next_probe = count(settings_.rate_probe * probe_unit_.view<double, 1>()[0], 1);
  const Wanted wanted{.object = iteration.object_free, .probe = iteration.probe_free, .weights = false};
  there.iterate(
      bench.batches(settings_.batch, iteration.number).here, wanted, {},
      [=](Stream& queue, const DeviceSums& sums, DeviceEstimate& estimate) {
        const auto move = [&](const device::NextAdamStep& next, device::AdamStep<Real> step, const Array& down,
                              Array& target, Array* phase) {
          step.down = static_cast<const Wave*>(down.data());
          step.now = sums.now;
          step.target = static_cast<Wave*>(target.data());
          if (phase != nullptr) step.phase = static_cast<Real*>(phase->data());
          run_on(queue, 1, next);
          run_on(queue, step.pieces(), step);
        };
        if (wanted.object)
          move(next_object, of_object, sums.object, estimate.object, potential ? &estimate.phase : nullptr);
        if (wanted.probe) move(next_probe, of_probe, sums.probe, estimate.probe, nullptr);
      },
      bench.fit());
  there.give(state);
}

template <class Real>
void Adam<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  if (DevicePass<Real>* there = bench.device_pass()) return iterate_there(bench, *there, iteration);
  State& state = bench.state();
  const SharedBatches batches = bench.batches(settings_.batch, iteration.number);
  for (Index b = 0; b < batches.count(); ++b) {
    bench.check_interrupt();
    if (b + 1 < batches.count()) bench.pass().comes_next(batches[b + 1]);
    bench.pass().run(state, bench.spectrum(), batches[b],
                     {.object = iteration.object_free, .probe = iteration.probe_free, .weights = false}, sums_,
                     bench.fit());
    const double scale =
        static_cast<double>(bench.active_in_all()) / static_cast<double>(batches.sizes[static_cast<std::size_t>(b)]);
    if (iteration.object_free) move_object(state, scale);
    if (!iteration.probe_free) continue;
    move_probe(state, scale);
    bench.renew_spectrum();
  }
}

template class Adam<float>;
template class Adam<double>;

}  // namespace sonde::ptycho
