// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/ml.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
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

template <class Real>
Ml<Real>::Ml(const MlSettings& settings, Workbench<Real>& bench)
    : settings_(settings), exposures_([&] { return Exposure<Real>(bench.model()); }), room_([&] {
        return std::vector<Complex>(static_cast<std::size_t>(2 * bench.model().modes() * bench.model().pixels()));
      }) {
  const State& state = bench.state();
  if (state.type != ObjectType::complex)
    throw Error(ErrorKind::not_supported, "ml knows complex objects").hint("gd, adam and lsqml know potentials");
  const Device cpu = Device::cpu();
  object_direction_ = Array::zeros(cpu, state.object.shape(), dtype_of<Complex>);
  object_before_ = Array::zeros(cpu, state.object.shape(), dtype_of<Complex>);
  probe_direction_ = Array::zeros(cpu, state.probe.shape(), dtype_of<Complex>);
  probe_before_ = Array::zeros(cpu, state.probe.shape(), dtype_of<Complex>);
  last_ = Array::zeros(cpu, Shape{1}, DType::f64);
}

template <class Real>
std::vector<EngineMemory> Ml<Real>::memory() {
  return {{"object_direction", &object_direction_},
          {"object_before", &object_before_},
          {"probe_direction", &probe_direction_},
          {"probe_before", &probe_before_},
          {"last", &last_}};
}

/// Polak-Ribiere, beta >= 0; the probe's part is scaled so that both gradients are alike in size.
template <class Real>
void Ml<Real>::direct(const Workbench<Real>& bench, const Iteration& iteration) {
  Array &object = sums_.object, &probe = sums_.probe;
  const double of_object = iteration.object_free ? object_product<Real>(bench, object, object) : 0;
  const double of_probe = iteration.probe_free ? product<Real>(probe, probe) : 0;
  const double scale = of_probe > 0 && of_object > 0 ? settings_.probe_scale * of_object / of_probe : 1;
  double now = 0, turned = 0, before = 0;
  if (iteration.object_free) {
    now += of_object;
    turned += object_product<Real>(bench, object, object_before_);
    before += object_product<Real>(bench, object_before_, object_before_);
  }
  if (iteration.probe_free) {
    now += scale * of_probe;
    turned += scale * product<Real>(probe, probe_before_);
    before += scale * product<Real>(probe_before_, probe_before_);
  }
  const double beta = before > 0 ? std::max(0.0, (now - turned) / before) : 0;
  combine<Real>(beta, object_direction_, iteration.object_free ? 1 : 0, object);
  combine<Real>(beta, probe_direction_, iteration.probe_free ? scale : 0, probe);
  combine<Real>(0, object_before_, 1, object);
  combine<Real>(0, probe_before_, 1, probe);
}

template <class Real>
double Ml<Real>::best_step(Workbench<Real>& bench) {
  const Model<Real>& model = bench.model();
  const State& state = bench.state();
  const Index pixels = model.pixels(), waves = model.modes() * pixels;
  const Real scale = Real(1) / static_cast<Real>(pixels);
  if (!bench.spectrum().empty()) {
    if (spectrum_.empty()) spectrum_ = Array(Device::cpu(), state.probe.shape(), state.probe.dtype());
    probe_spectrum(model, probe_direction_, spectrum_);
  }
  const auto direction = object_direction_.view<Complex, 3>();
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
      exposure.bring(probe_direction_, spectrum_);
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
  double b[2] = {0, 0};
  for (const cpu::LineSums& sum : sums) {
    b[0] += sum.b1;
    b[1] += sum.b2;
  }
  bench.sum(b);
  const double step = -b[0] / (2 * b[1]);
  double& last = last_.view<double, 1>()[0];
  // Where the loss does not curve upwards along the direction, half of what went well before.
  last = std::isfinite(step) && step > 0 ? step : last / 2;
  return last;
}

template <class Real>
void Ml<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  bench.check_interrupt();
  bench.pass().run(state, bench.spectrum(), bench.active(), {.object = true, .probe = true, .weights = false}, sums_,
                   bench.fit());
  direct(bench, iteration);
  bench.check_interrupt();
  const Real step = static_cast<Real>(best_step(bench));
  cpu::add<Real>(step, elements<Real>(object_direction_), elements<Real>(state.object), state.object.count());
  cpu::add<Real>(step, elements<Real>(probe_direction_), elements<Real>(state.probe), state.probe.count());
  if (iteration.probe_free) bench.renew_spectrum();
}

template class Ml<float>;
template class Ml<double>;

}  // namespace sonde::ptycho
