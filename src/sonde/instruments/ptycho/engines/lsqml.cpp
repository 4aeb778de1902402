// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/lsqml.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

/// The mean without the largest and smallest tenth.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / 10;
  double sum = 0;
  for (std::size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * cut);
}

/// phase += step Im(conj(O) dO).
template <class Real>
void turn_phase(const Array& direction, double step, State& state) {
  const std::complex<Real>* toward = direction.view<std::complex<Real>, 3>().data;
  const std::complex<Real>* object = state.object.view<std::complex<Real>, 3>().data;
  Real* phase = state.phase.view<Real, 3>().data;
  for (Index i = 0; i < direction.count(); ++i)
    phase[i] += static_cast<Real>(step) * std::imag(std::conj(object[i]) * toward[i]);
  state.follow_phase();
}

}  // namespace

void LsqmlSettings::describe(Fields& fields) {
  fields.add("damping", damping,
             {.help = "damping of dim parts, share of the largest illumination", .min = 0, .max = 1});
  fields.add("relax", relax, {.help = "share of the best step that is taken", .min = 0, .max = 1});
  batch.describe(fields);
  describe_loss(fields, loss);
}

template <class Real>
Lsqml<Real>::Lsqml(const LsqmlSettings& settings, Workbench<Real>& bench)
    : settings_(settings), exposures_([&] { return Exposure<Real>(bench.model()); }) {
  const Model<Real>& model = bench.model();
  if (model.slices() != 1)
    throw Error(ErrorKind::not_supported, "lsqml knows one slice for now").hint("epie, rpie, gd and adam know several");
  const Index batch = std::min<Index>(settings_.batch.size, static_cast<Index>(bench.active().size()));
  chi_ = Array(Device::cpu(), Shape{batch, model.modes(), model.rows(), model.cols()}, dtype_of<Complex>);
}

/// The illumination of the whole scan by the probe as it is.
template <class Real>
void Lsqml<Real>::illuminate(Workbench<Real>& bench) {
  const Index count = bench.model().modes() * bench.model().pixels();
  bench.pass().run(bench.state(), bench.active(), {.object = true, .probe = false}, scan_,
                   [&](Index frame, Exposure<Real>& exposure) {
                     exposure.aim(bench.state(), bench.spectrum(), frame);
                     std::fill(exposure.waves(), exposure.waves() + count, Complex{});
                   });
}

/// The sums of the batch become directions: divided by the illumination of the whole scan, and by that of the batch.
template <class Real>
void Lsqml<Real>::directions(Workbench<Real>& bench) {
  const State& state = bench.state();
  const auto object = sums_.object.view<Complex, 3>();
  const Real* weight = scan_.object_weight.view<Real, 3>().data;
  const double largest = scan_.largest_object_weight.front();
  const Real floor2 = static_cast<Real>(settings_.damping * largest * settings_.damping * largest);
  parallel_for(object.count(), 4096, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) object.data[i] /= std::sqrt(weight[i] * weight[i] + floor2);
  });
  const auto probe = sums_.probe.view<Complex, 3>();
  const auto light = sums_.probe_weight.view<Real, 2>();
  const double most = sums_.largest_probe_weight;
  const Real probe_floor2 = static_cast<Real>(settings_.damping * most * settings_.damping * most);
  for (Index i = 0; i < probe.count(); ++i) {
    const Real w = light.data[i % light.count()];
    probe.data[i] /= std::sqrt(w * w + probe_floor2);
  }
  if (state.type != ObjectType::potential) return;
  // Only the part of dO along i O moves a phase.
  const auto o = state.object.view<Complex, 3>();
  for (Index i = 0; i < object.count(); ++i)
    object.data[i] = Complex(0, std::imag(std::conj(o.data[i]) * object.data[i])) * o.data[i];
}

template <class Real>
std::pair<double, double> Lsqml<Real>::steps(Workbench<Real>& bench, std::span<const Index> batch,
                                             const Iteration& iteration) {
  const Model<Real>& model = bench.model();
  const auto members = static_cast<Index>(batch.size());
  if (!bench.spectrum().empty()) {
    if (spectrum_.empty()) spectrum_ = Array(Device::cpu(), sums_.probe.shape(), sums_.probe.dtype());
    probe_spectrum(model, sums_.probe, spectrum_);
  }
  const auto direction = sums_.object.view<Complex, 3>();
  const auto chi = chi_.view<Complex, 4>();
  std::vector<cpu::StepSums> sums(batch.size());
  parallel_for(members, 1, [&](Index first, Index last, Worker& worker) {
    Exposure<Real>& exposure = exposures_[worker];
    for (Index i = first; i < last; ++i) {
      const Index frame = batch[static_cast<std::size_t>(i)];
      exposure.aim(bench.state(), bench.spectrum(), frame);
      exposure.bring(sums_.probe, spectrum_);
      const auto window = exposure.window(0);
      auto toward = window;
      toward.data = &direction(0, exposure.placement().row, exposure.placement().col);
      sums[static_cast<std::size_t>(i)] =
          cpu::step_sums<Real>(window, toward, exposure.incident(0), exposure.waves(),
                               chi.data + place_[static_cast<std::size_t>(frame)] * chi.stride[0], model.modes());
    }
  });
  double mean_xx = 0, mean_yy = 0;
  for (const cpu::StepSums& sum : sums) {
    mean_xx += sum.xx / static_cast<double>(members);
    mean_yy += sum.yy / static_cast<double>(members);
  }
  std::vector<double> of_object, of_probe;
  for (const cpu::StepSums& sum : sums) {
    // A tenth of the batch's mean keeps frames with little light from large steps.
    const double xx = sum.xx + 0.1 * mean_xx, yy = sum.yy + 0.1 * mean_yy;
    double object = 0, probe = 0;
    if (iteration.object_free && iteration.probe_free) {
      const double determinant = xx * yy - sum.xy * sum.xy;
      object = (yy * sum.chi_x - sum.xy * sum.chi_y) / determinant;
      probe = (xx * sum.chi_y - sum.xy * sum.chi_x) / determinant;
    } else if (iteration.object_free) {
      object = sum.chi_x / xx;
    } else if (iteration.probe_free) {
      probe = sum.chi_y / yy;
    }
    // Not a number when there is no light at all.
    of_object.push_back(object > 0 ? settings_.relax * object / static_cast<double>(model.modes()) : 0);
    of_probe.push_back(probe > 0 ? settings_.relax * probe : 0);
  }
  double probe = 0;
  for (const double step : of_probe) probe += step / static_cast<double>(members);
  return {trimmed_mean(of_object), probe};
}

template <class Real>
void Lsqml<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  const Index count = bench.model().modes() * bench.model().pixels();
  const Batches batches =
      overlapping_batches(bench.active(), state.placements, settings_.batch.size, settings_.batch.spread,
                          {bench.seed(), static_cast<std::uint64_t>(iteration.number)});
  const auto chi = chi_.view<Complex, 4>();
  place_.resize(bench.fit().size());
  illuminate(bench);
  for (Index b = 0; b < batches.count(); ++b) {
    check_interrupt();
    const std::span<const Index> batch = batches[b];
    for (std::size_t i = 0; i < batch.size(); ++i) place_[static_cast<std::size_t>(batch[i])] = static_cast<Index>(i);
    bench.pass().run(state, batch, {}, sums_, [&](Index frame, Exposure<Real>& exposure) {
      exposure.forward(state, bench.spectrum(), frame);
      bench.fit()[static_cast<std::size_t>(frame)] = exposure.residual(frame);
      exposure.back();
      Complex* keep = chi.data + place_[static_cast<std::size_t>(frame)] * chi.stride[0];
      std::copy(exposure.waves(), exposure.waves() + count, keep);
    });
    directions(bench);
    const auto [of_object, of_probe] = steps(bench, batch, iteration);
    if (iteration.object_free) {
      if (state.type == ObjectType::potential)
        turn_phase<Real>(sums_.object, of_object, state);
      else
        cpu::add<Real>(static_cast<Real>(of_object), sums_.object.view<Complex, 3>().data,
                       state.object.view<Complex, 3>().data, state.object.count());
    }
    if (!iteration.probe_free) continue;
    cpu::add<Real>(static_cast<Real>(of_probe), sums_.probe.view<Complex, 3>().data,
                   state.probe.view<Complex, 3>().data, count);
    bench.renew_spectrum();
  }
}

template class Lsqml<float>;
template class Lsqml<double>;

}  // namespace sonde::ptycho
