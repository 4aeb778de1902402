// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/ml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/engines/combine_device.h"
#include "sonde/instruments/ptycho/model/look_ahead.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

template <class Real>
std::complex<Real>* elements(Array& array) {
  return array.view<std::complex<Real>, 3>().data;
}

/// Re <a, b> in double; on one thread, so that it has one order.
template <class Real>
double product(Array& a, Array& b) {
  const std::complex<Real>*x = elements<Real>(a), *y = elements<Real>(b);
  double sum = 0;
  for (Index i = 0; i < a.count(); ++i)
    sum += static_cast<double>(x[i].real()) * static_cast<double>(y[i].real()) +
           static_cast<double>(x[i].imag()) * static_cast<double>(y[i].imag());
  return sum;
}

/// The same over the whole object.
template <class Real>
double object_product(const Workbench<Real>& bench, Array& a, Array& b) {
  return bench.share() == nullptr ? product<Real>(a, b) : bench.share()->template product<Real>(a, b);
}

template <class Real>
void combine(double old, Array& direction, double fresh, Array& gradient) {
  std::complex<Real>*d = elements<Real>(direction), *g = elements<Real>(gradient);
  for (Index i = 0; i < direction.count(); ++i) d[i] = static_cast<Real>(old) * d[i] + static_cast<Real>(fresh) * g[i];
}

}  // namespace

void MlSettings::describe(Fields& fields) {
  fields.add("probe_scale", probe_scale,
             {.help = "how much the probe's gradient weighs against the object's", .min = 0});
}

MemoryNeed MlSettings::memory(const WorkSizes& sizes, const BatchSizes& scan) const {
  const std::size_t wave = sizes.wave_bytes();
  return {sums_bytes(sizes, scan) + 2 * sizes.object_pixels() * sizes.complex_bytes() + 2 * wave +
              static_cast<std::size_t>(sizes.threads) * 2 * wave,
          "sums, band tiles, directions"};
}

MemoryNeed MlSettings::memory_there(const WorkSizes& sizes, const BatchSizes&, Index in_flight) const {
  const std::size_t probe = sizes.wave_bytes();
  return {2 * sizes.object_pixels() * sizes.complex_bytes() + (sizes.fractional ? 3 : 2) * probe +
              2 * static_cast<std::size_t>(in_flight) * probe,
          fmt::format("directions, gradients before, two more waves of {} patterns", in_flight)};
}

template <class Real>
Ml<Real>::Ml(const MlSettings& settings, Workbench<Real>& bench)
    : settings_(settings), exposures_([&] { return Exposure<Real>(bench.model()); }), room_([&] {
        return std::vector<Complex>(static_cast<std::size_t>(2 * bench.model().modes() * bench.model().pixels()));
      }) {
  const State& state = bench.state();
  const Device cpu = Device::cpu();
  const auto zeros = [&](const Shape& shape) { return Mirrored(Array::zeros(cpu, shape, dtype_of<Complex>)); };
  object_direction_ = zeros(state.object.shape());
  object_before_ = zeros(state.object.shape());
  probe_direction_ = zeros(state.probe.shape());
  probe_before_ = zeros(state.probe.shape());
  last_ = Array::zeros(cpu, Shape{2}, DType::f64);
}

template <class Real>
std::vector<EngineMemory> Ml<Real>::memory() {
  return {{.name = "object_direction", .array = &object_direction_.host(), .on_object = true},
          {.name = "object_before", .array = &object_before_.host(), .on_object = true},
          {"probe_direction", &probe_direction_.host()},
          {"probe_before", &probe_before_.host()},
          {"last", &last_}};
}

/// Polak-Ribiere, beta >= 0, and 0 after a step that was no minimum; the probe's part is scaled so that both gradients
/// are alike in size.
template <class Real>
auto Ml<Real>::turn(const Iteration& iteration, const Products& object, const Products& probe) const -> Turn {
  const double scale = probe.now > 0 && object.now > 0 ? settings_.probe_scale * object.now / probe.now : 1;
  const double before = object.before + scale * probe.before;
  const double grown = object.now + scale * probe.now - (object.turned + scale * probe.turned);
  const bool again = last_.view<double, 1>()[1] != 0;
  const double beta = before > 0 && !again ? std::max(0.0, grown / before) : 0;
  Turn by;
  if (iteration.object_free) by.object = {.keep = beta, .fresh = 1};
  if (iteration.probe_free) by.probe = {.keep = beta, .fresh = scale};
  return by;
}

template <class Real>
void Ml<Real>::direct(const Workbench<Real>& bench, const Iteration& iteration) {
  Array &object = sums_.object, &probe = sums_.probe;
  Array &object_before = object_before_.host(), &probe_before = probe_before_.host();
  Products of_object, of_probe;
  if (iteration.object_free)
    of_object = {object_product<Real>(bench, object, object), object_product<Real>(bench, object, object_before),
                 object_product<Real>(bench, object_before, object_before)};
  if (iteration.probe_free)
    of_probe = {product<Real>(probe, probe), product<Real>(probe, probe_before),
                product<Real>(probe_before, probe_before)};
  const Turn by = turn(iteration, of_object, of_probe);
  combine<Real>(by.object.keep, object_direction_.host(), by.object.fresh, object);
  combine<Real>(by.probe.keep, probe_direction_.host(), by.probe.fresh, probe);
  combine<Real>(0, object_before, 1, object);
  combine<Real>(0, probe_before, 1, probe);
}

template <class Real>
std::array<double, 2> Ml<Real>::line(Workbench<Real>& bench) {
  const Model<Real>& model = bench.model();
  const State& state = bench.state();
  const Index pixels = model.pixels(), waves = model.modes() * pixels;
  const Real scale = Real(1) / static_cast<Real>(pixels);
  if (!bench.spectrum().empty()) {
    if (spectrum_.empty()) spectrum_ = Array(Device::cpu(), state.probe.shape(), state.probe.dtype());
    probe_spectrum(model, probe_direction_.host(), spectrum_);
  }
  const auto direction = object_direction_.host().view<Complex, 3>();
  const Array& probe_direction = probe_direction_.host();
  const std::vector<Index>& active = bench.active();
  std::vector<cpu::LineSums> sums(active.size());
  parallel_for(static_cast<Index>(active.size()), 4, [&](Index first, Index last, Worker& worker) {
    Exposure<Real>& exposure = exposures_[worker];
    Complex *a1 = room_[worker].data(), *a2 = a1 + waves;
    for (Index i = first; i < last; ++i) {
      const Index frame = active[static_cast<std::size_t>(i)];
      if (bench.share() == nullptr) check_interrupt();  // alone nobody waits for this process
      look_ahead(active, i, [&](std::span<const Index> frames) { model.measurement().will_read(frames); });
      exposure.aim(state, bench.spectrum(), frame);
      exposure.bring(probe_direction, spectrum_);
      Complex* a0 = exposure.waves();
      // Before the first slice the wave is P + t hP; each slice multiplies by O + t hO, and what goes with t^3 is left.
      std::copy(a0, a0 + waves, a1);
      std::copy(exposure.incident(0), exposure.incident(0) + waves, a0);
      std::fill(a2, a2 + waves, Complex{});
      for (Index s = 0; s < model.slices(); ++s) {
        const auto object = exposure.window(s);
        auto toward = object;
        toward.data = &direction(s, exposure.placement().row, exposure.placement().col);
        for (Index m = 0; m < model.modes(); ++m) {
          Complex *zero = a0 + m * pixels, *one = a1 + m * pixels, *two = a2 + m * pixels;
          if (s > 0)
            for (Complex* wave : {zero, one, two}) exposure.free_space(s - 1, wave);
          cpu::step_through<Real>(object, toward, zero, one, two);
        }
      }
      for (Complex* part : {a0, a1, a2})
        for (Index m = 0; m < model.modes(); ++m) model.fft().transform(part + m * pixels, FftDirection::forward);
      sums[static_cast<std::size_t>(i)] =
          cpu::line_sums<Real>({exposure.amplitudes(frame), model.measurement().template weights<Real>()}, scale, a0,
                               a1, a2, model.modes(), pixels);
    }
  });
  std::array<double, 2> b{};
  for (const cpu::LineSums& sum : sums) {
    b[0] += sum.b1;
    b[1] += sum.b2;
  }
  return b;
}

template <class Real>
double Ml<Real>::best_step(Workbench<Real>& bench, std::array<double, 2> b) {
  bench.sum(b);
  const double step = -b[0] / (2 * b[1]);
  double &last = last_.view<double, 1>()[0], &again = last_.view<double, 1>()[1];
  // Where the loss does not curve upwards along the direction, half of what went well before; and the next direction is
  // the gradient alone, or this one would grow from iteration to iteration.
  const bool well = std::isfinite(step) && step > 0;
  last = well ? step : last / 2;
  again = well ? 0 : 1;
  return last;
}

template <class Real>
auto Ml<Real>::products_there(Stream& stream, const Array& gradient, Mirrored& before) -> Products {
  using Wave = device::Complex<Real>;
  device::Products<Real> body;
  body.a = static_cast<const Wave*>(gradient.data());
  body.b = static_cast<const Wave*>(before.there(stream).data());
  body.count = gradient.count();
  body.partial = static_cast<double*>(partial_.data());
  const Index strips = device::strips_of(body.count);
  run_on(stream, strips, body);
  run_on(stream, 1, device::SumOfStrips<3>{body.partial, strips, static_cast<double*>(totals_.data())});
  double found[3];
  stream.copy(found, totals_.data(), sizeof found);
  stream.synchronise();
  return {found[0], found[1], found[2]};
}

template <class Real>
void Ml<Real>::iterate_there(Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration) {
  using Wave = device::Complex<Real>;
  Stream& stream = there.stream();
  if (partial_.empty()) {
    const Index strips = device::strips_of(std::max(object_before_.count(), probe_before_.count()));
    partial_ = Array(stream.device(), Shape{strips, 3}, DType::f64);
    totals_ = Array(stream.device(), Shape{3}, DType::f64);
  }
  const auto combined = [&](double keep, Array& to, double fresh, const Array& from) {
    run_on(stream, device::strips_of(to.count()),
           device::Combine<Real>{static_cast<Real>(keep), static_cast<Real>(fresh),
                                 static_cast<const Wave*>(from.data()), static_cast<Wave*>(to.data()), to.count()});
  };
  there.pass(bench.active(), {.object = true, .probe = true, .weights = false}, {}, bench.fit());
  const Array &object = there.sums().object, &probe = there.sums().probe;
  Products of_object, of_probe;
  if (iteration.object_free) of_object = products_there(stream, object, object_before_);
  if (iteration.probe_free) of_probe = products_there(stream, probe, probe_before_);
  const Turn by = turn(iteration, of_object, of_probe);
  Array &object_direction = object_direction_.there(stream), &probe_direction = probe_direction_.there(stream);
  combined(by.object.keep, object_direction, by.object.fresh, object);
  combined(by.probe.keep, probe_direction, by.probe.fresh, probe);
  combined(0, object_before_.there(stream), 1, object);
  combined(0, probe_before_.there(stream), 1, probe);
  const double step = best_step(bench, there.line_sums(bench.active(), object_direction, probe_direction));
  combined(1, there.estimate().object, step, object_direction);
  combined(1, there.estimate().probe, step, probe_direction);
  there.probe_changed();
  there.give(bench.state());
}

template <class Real>
void Ml<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  if (DevicePass<Real>* there = bench.device_pass()) return iterate_there(bench, *there, iteration);
  State& state = bench.state();
  bench.check_interrupt();
  bench.pass().run(state, bench.spectrum(), bench.active(), {.object = true, .probe = true, .weights = false}, sums_,
                   bench.fit());
  direct(bench, iteration);
  bench.check_interrupt();
  const Real step = static_cast<Real>(best_step(bench, line(bench)));
  cpu::add<Real>(step, elements<Real>(object_direction_.host()), elements<Real>(state.object), state.object.count());
  cpu::add<Real>(step, elements<Real>(probe_direction_.host()), elements<Real>(state.probe), state.probe.count());
  if (iteration.probe_free) bench.renew_spectrum();
}

template class Ml<float>;
template class Ml<double>;

}  // namespace sonde::ptycho
