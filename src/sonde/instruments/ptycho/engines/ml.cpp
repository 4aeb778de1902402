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
             {.help = "how much the probe's gradient weighs against the object's", .min = 0, .changeable = true});
}

MemoryNeed MlSettings::memory(const WorkSizes& sizes, const BatchSizes& scan) const {
  const std::size_t wave = sizes.wave_bytes();
  return {sums_bytes(sizes, scan) + 4 * sizes.object_pixels() * sizes.complex_bytes() + 4 * wave +
              static_cast<std::size_t>(sizes.threads) * 2 * wave,
          "sums, band tiles, directions, and these as the iteration began"};
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

/// The probe's part is scaled so that both gradients are alike in size.
template <class Real>
GradientProducts Ml<Real>::together(const GradientProducts& object, const GradientProducts& probe) {
  const double scale = probe.now > 0 && object.now > 0 ? settings_.probe_scale * object.now / probe.now : 1;
  probe_weight_ = scale;
  return {object.now + scale * probe.now, object.turned + scale * probe.turned, object.before + scale * probe.before};
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
      if (bench.share() == nullptr) check_interrupt();  // no other process waits for this one
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
class Ml<Real>::Here {
 public:
  Here(Ml& ml, Workbench<Real>& bench, const Iteration& iteration) : ml_(ml), bench_(bench), iteration_(iteration) {}

  GradientProducts products() {
    Array &object = ml_.sums_.object, &probe = ml_.sums_.probe;
    Array &object_before = ml_.object_before_.host(), &probe_before = ml_.probe_before_.host();
    GradientProducts of_object, of_probe;
    if (iteration_.object_free)
      of_object = {object_product<Real>(bench_, object, object), object_product<Real>(bench_, object, object_before),
                   object_product<Real>(bench_, object_before, object_before)};
    if (iteration_.probe_free)
      of_probe = {product<Real>(probe, probe), product<Real>(probe, probe_before),
                  product<Real>(probe_before, probe_before)};
    return ml_.together(of_object, of_probe);
  }

  void turn(double beta) {
    const Mix object = mix(iteration_.object_free, beta, 1),
              probe = mix(iteration_.probe_free, beta, ml_.probe_weight_);
    combine<Real>(object.keep, ml_.object_direction_.host(), object.fresh, ml_.sums_.object);
    combine<Real>(probe.keep, ml_.probe_direction_.host(), probe.fresh, ml_.sums_.probe);
    combine<Real>(0, ml_.object_before_.host(), 1, ml_.sums_.object);
    combine<Real>(0, ml_.probe_before_.host(), 1, ml_.sums_.probe);
  }

  double step(ConjugateMemory& memory) {
    bench_.check_interrupt();
    std::array<double, 2> b = ml_.line(bench_);
    bench_.sum(b);
    return step_along({.slope = b[0], .curvature = b[1]}, memory);
  }

  void move(double by) {
    State& state = bench_.state();
    const Real step = static_cast<Real>(by);
    cpu::add<Real>(step, elements<Real>(ml_.object_direction_.host()), elements<Real>(state.object),
                   state.object.count());
    cpu::add<Real>(step, elements<Real>(ml_.probe_direction_.host()), elements<Real>(state.probe), state.probe.count());
  }

 private:
  Ml& ml_;
  Workbench<Real>& bench_;
  const Iteration& iteration_;
};

template <class Real>
class Ml<Real>::There {
 public:
  There(Ml& ml, Workbench<Real>& bench, DevicePass<Real>& there, const Iteration& iteration)
      : ml_(ml), bench_(bench), there_(there), stream_(there.stream()), iteration_(iteration) {
    if (!ml_.partial_.empty()) return;
    const Index strips = device::strips_of(std::max(ml_.object_before_.count(), ml_.probe_before_.count()));
    ml_.partial_ = Array(stream_.device(), Shape{strips, 3}, DType::f64);
    ml_.totals_ = Array(stream_.device(), Shape{3}, DType::f64);
  }

  GradientProducts products() {
    GradientProducts of_object, of_probe;
    if (iteration_.object_free) of_object = products_of(there_.sums().object, ml_.object_before_);
    if (iteration_.probe_free) of_probe = products_of(there_.sums().probe, ml_.probe_before_);
    return ml_.together(of_object, of_probe);
  }

  void turn(double beta) {
    const Array &object = there_.sums().object, &probe = there_.sums().probe;
    combined(mix(iteration_.object_free, beta, 1), ml_.object_direction_.there(stream_), object);
    combined(mix(iteration_.probe_free, beta, ml_.probe_weight_), ml_.probe_direction_.there(stream_), probe);
    combined({.keep = 0, .fresh = 1}, ml_.object_before_.there(stream_), object);
    combined({.keep = 0, .fresh = 1}, ml_.probe_before_.there(stream_), probe);
  }

  double step(ConjugateMemory& memory) {
    std::array<double, 2> b =
        there_.line_sums(bench_.active(), ml_.object_direction_.there(stream_), ml_.probe_direction_.there(stream_));
    bench_.sum(b);
    return step_along({.slope = b[0], .curvature = b[1]}, memory);
  }

  void move(double step) {
    combined({.keep = 1, .fresh = step}, there_.estimate().object, ml_.object_direction_.there(stream_));
    combined({.keep = 1, .fresh = step}, there_.estimate().probe, ml_.probe_direction_.there(stream_));
  }

 private:
  using Wave = device::Complex<Real>;

  void combined(Mix by, Array& to, const Array& from) {
    run_on(stream_, device::strips_of(to.count()),
           device::Combine<Real>{static_cast<Real>(by.keep), static_cast<Real>(by.fresh),
                                 static_cast<const Wave*>(from.data()), static_cast<Wave*>(to.data()), to.count()});
  }

  GradientProducts products_of(const Array& gradient, Mirrored& before) {
    device::Products<Real> body;
    body.a = static_cast<const Wave*>(gradient.data());
    body.b = static_cast<const Wave*>(before.there(stream_).data());
    body.count = gradient.count();
    body.partial = static_cast<double*>(ml_.partial_.data());
    const Index strips = device::strips_of(body.count);
    run_on(stream_, strips, body);
    run_on(stream_, 1, device::SumOfStrips<3>{body.partial, strips, static_cast<double*>(ml_.totals_.data())});
    double found[3];
    stream_.copy(found, ml_.totals_.data(), sizeof found);
    stream_.synchronise();
    return {found[0], found[1], found[2]};
  }

  Ml& ml_;
  Workbench<Real>& bench_;
  DevicePass<Real>& there_;
  Stream& stream_;
  const Iteration& iteration_;
};

template <class Real>
template <class Problem>
void Ml<Real>::iterate_with(Problem&& problem) {
  double &step = last_.view<double, 1>()[0], &restart = last_.view<double, 1>()[1];
  ConjugateMemory memory{.step = step, .restart = restart != 0};
  conjugate_iteration(problem, memory);
  step = memory.step;
  restart = memory.restart ? 1 : 0;
}

template <class Real>
void Ml<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  const Wanted gradient{.object = true, .probe = true, .weights = false};
  if (DevicePass<Real>* there = bench.device_pass()) {
    there->pass(bench.active(), gradient, {}, bench.fit());
    iterate_with(There(*this, bench, *there, iteration));
    there->probe_changed();
    there->give(bench.state());
    return;
  }
  bench.check_interrupt();
  bench.pass().run(bench.state(), bench.spectrum(), bench.active(), gradient, sums_, bench.fit());
  iterate_with(Here(*this, bench, iteration));
  if (iteration.probe_free) bench.renew_spectrum();
}

template class Ml<float>;
template class Ml<double>;

}  // namespace sonde::ptycho
