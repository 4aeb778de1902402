// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/lsqml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/engines/lsqml_device.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

/// The mean without the largest and smallest tenth.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / device::trimmed;
  double sum = 0;
  for (std::size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * cut);
}

/// Every slice by its own step: object += step dO, or phase += step Im(conj(O) dO).
template <class Real>
void move_object(const Array& direction, std::span<const double> steps, State& state) {
  const auto toward = direction.view<std::complex<Real>, 3>();
  const auto object = state.object.view<std::complex<Real>, 3>();
  const Index pixels = toward.extent[1] * toward.extent[2];
  for (Index s = 0; s < toward.extent[0]; ++s) {
    const Real step = static_cast<Real>(steps[static_cast<std::size_t>(s)]);
    const std::complex<Real>* d = toward.data + s * pixels;
    std::complex<Real>* o = object.data + s * pixels;
    if (state.type == ObjectType::complex) {
      cpu::add<Real>(step, d, o, pixels);
      continue;
    }
    Real* phase = state.phase.view<Real, 3>().data + s * pixels;
    for (Index i = 0; i < pixels; ++i) phase[i] += step * std::imag(std::conj(o[i]) * d[i]);
  }
  state.follow_phase();
}

}  // namespace

void LsqmlSettings::describe(Fields& fields) {
  fields.add(
      "damping", damping,
      {.help = "damping of dim parts, share of the largest illumination", .min = 0, .max = 1, .changeable = true});
  fields.add("relax", relax, {.help = "share of the best step that is taken", .min = 0, .max = 1, .changeable = true});
  batch.describe(fields);
  describe_loss(fields, loss);
}

MemoryNeed LsqmlSettings::memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const {
  const std::size_t scan = sizes.object_pixels() * 3 * sizes.real_bytes;
  return {sums_bytes(sizes, batch_sizes) + scan + static_cast<std::size_t>(batch_sizes.frames) * sizes.wave_bytes(),
          fmt::format("sums, band tiles, waves of {} frames", batch_sizes.frames)};
}

MemoryNeed LsqmlSettings::memory_there(const WorkSizes& sizes, const BatchSizes& batch_sizes, Index in_flight) const {
  const std::size_t wave = sizes.wave_bytes();
  const std::size_t brought = sizes.fractional ? (static_cast<std::size_t>(in_flight) + 1) * wave : 0;
  return {sizes.object_pixels() * sizes.real_bytes + static_cast<std::size_t>(batch_sizes.frames) * wave + brought,
          fmt::format("light of the scan, waves of {} frames{}", batch_sizes.frames,
                      brought == 0 ? "" : ", the probe's direction at each pattern")};
}

template <class Real>
Lsqml<Real>::Lsqml(const LsqmlSettings& settings, Workbench<Real>& bench)
    : settings_(settings), exposures_([&] { return Exposure<Real>(bench.model()); }) {
  const Model<Real>& model = bench.model();
  const Index batch =
      std::min({settings_.batch.size, bench.limits().most_batch, static_cast<Index>(bench.active().size())});
  if (DevicePass<Real>* there = bench.device_pass()) {
    there_ = std::make_unique<DeviceLsqml<Real>>(*there, model, batch);
    return;
  }
  chi_ = Array(Device::cpu(), Shape{batch, model.modes(), model.rows(), model.cols()}, dtype_of<Complex>);
}

template <class Real>
std::complex<Real>* Lsqml<Real>::chi_of(Index frame) {
  const auto chi = chi_.view<Complex, 4>();
  return chi.data + place_[static_cast<std::size_t>(frame)] * chi.stride[0];
}

/// The illumination of the whole scan by the probe as it is.
template <class Real>
void Lsqml<Real>::illuminate(Workbench<Real>& bench) {
  const Index count = bench.model().modes() * bench.model().pixels();
  bench.pass().run(bench.state(), bench.active(), {.object = true, .probe = false}, scan_,
                   [&](Index frame, Exposure<Real>& exposure) {
                     exposure.approach(bench.state(), bench.spectrum(), frame);
                     std::fill(exposure.waves(), exposure.waves() + count, Complex{});
                   });
}

/// The sums of the batch become directions: divided by the illumination of the whole scan, and by that of the batch.
template <class Real>
void Lsqml<Real>::directions(Workbench<Real>& bench) {
  const State& state = bench.state();
  const auto object = sums_.object.view<Complex, 3>();
  const Index pixels = object.extent[1] * object.extent[2];
  for (Index s = 0; s < object.extent[0]; ++s) {
    Complex* direction = object.data + s * pixels;
    const Real* weight = scan_.object_weight.view<Real, 3>().data + s * pixels;
    const double floor = settings_.damping * scan_.largest_object_weight[static_cast<std::size_t>(s)];
    const Real floor2 = static_cast<Real>(floor * floor);
    parallel_for(pixels, 4096, [&](Index first, Index last, Worker&) {
      for (Index i = first; i < last; ++i) direction[i] /= std::sqrt(weight[i] * weight[i] + floor2);
    });
  }
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

/// chi of a frame goes back through the slices, last to first, and says at each of them how far along its direction
/// this frame wants to go. What the wave before a slice should change by is left to the slices before it, and to the
/// probe.
template <class Real>
void Lsqml<Real>::sum_steps(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure, StepSums* sums) {
  const Index slices = bench.model().slices(), modes = bench.model().modes();
  const auto direction = sums_.object.view<Complex, 3>();
  exposure.approach(bench.state(), bench.spectrum(), frame);
  exposure.bring(sums_.probe, spectrum_);
  const Placement& at = exposure.placement();
  Complex* chi = chi_of(frame);
  for (Index s = slices - 1; s >= 0; --s) {
    auto toward = exposure.window(s);
    toward.data = &direction(s, at.row, at.col);
    sums[s] = cpu::step_sums<Real>(exposure.window(s), toward, exposure.incident(s), exposure.waves(), chi, modes);
    if (s > 0) exposure.before_slice(s, chi);
  }
}

template <class Real>
typename Lsqml<Real>::Steps Lsqml<Real>::steps(Workbench<Real>& bench, std::span<const Index> batch, Index members,
                                               const Iteration& iteration) {
  const Model<Real>& model = bench.model();
  const auto slices = static_cast<std::size_t>(model.slices());
  if (!bench.spectrum().empty()) {
    if (spectrum_.empty()) spectrum_ = Array(Device::cpu(), sums_.probe.shape(), sums_.probe.dtype());
    probe_spectrum(model, sums_.probe, spectrum_);
  }
  std::vector<StepSums> sums(batch.size() * slices);
  parallel_for(static_cast<Index>(batch.size()), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) {
      if (bench.share() == nullptr) check_interrupt();  // no other process waits for this one
      sum_steps(bench, batch[static_cast<std::size_t>(i)], exposures_[worker],
                sums.data() + static_cast<std::size_t>(i) * slices);
    }
  });
  std::vector<double> means(2 * slices);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    means[2 * (i % slices)] += sums[i].xx / static_cast<double>(members);
    means[2 * (i % slices) + 1] += sums[i].yy / static_cast<double>(members);
  }
  bench.sum(means);
  Steps steps;
  for (std::size_t s = 0; s < slices; ++s) {
    std::vector<double> of_object;
    for (std::size_t i = s; i < sums.size(); i += slices) {
      const device::BestSteps best = device::best_steps(sums[i], means[2 * s], means[2 * s + 1], iteration.object_free,
                                                        iteration.probe_free && s == 0);
      // Every slice, and every mode, would fill all of chi by itself.
      const auto shares = static_cast<double>(model.slices() * model.modes());
      of_object.push_back(best.object > 0 ? settings_.relax * best.object / shares : 0);
      if (best.probe > 0) steps.probe += settings_.relax * best.probe / static_cast<double>(members);
    }
    steps.object.push_back(trimmed_mean(bench.joined(std::move(of_object))));
  }
  bench.sum({&steps.probe, 1});
  return steps;
}

template <class Real>
void Lsqml<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  const Index count = bench.model().modes() * bench.model().pixels();
  const SharedBatches batches = bench.batches(settings_.batch, iteration.number);
  if (DevicePass<Real>* there = bench.device_pass()) {
    there_->iterate(settings_, bench.active(), batches.here, iteration, bench.fit());
    there->give(state);
    return;
  }
  const bool likelihood = settings_.loss == Loss::poisson;
  place_.resize(bench.fit().size());
  illuminate(bench);
  for (Index b = 0; b < batches.count(); ++b) {
    bench.check_interrupt();
    const std::span<const Index> batch = batches[b];
    for (std::size_t i = 0; i < batch.size(); ++i) place_[static_cast<std::size_t>(batch[i])] = static_cast<Index>(i);
    if (b + 1 < batches.count()) bench.pass().comes_next(batches[b + 1]);
    bench.pass().run(state, batch, {}, sums_, [&](Index frame, Exposure<Real>& exposure) {
      exposure.forward(state, bench.spectrum(), frame);
      bench.fit()[static_cast<std::size_t>(frame)] =
          exposure.residual(frame, true, likelihood ? exposure.poisson_step(frame) : Real(1));
      exposure.back();
      std::copy(exposure.waves(), exposure.waves() + count, chi_of(frame));
    });
    directions(bench);
    const Steps step = steps(bench, batch, batches.sizes[static_cast<std::size_t>(b)], iteration);
    if (iteration.object_free) move_object<Real>(sums_.object, step.object, state);
    if (!iteration.probe_free) continue;
    cpu::add<Real>(static_cast<Real>(step.probe), sums_.probe.view<Complex, 3>().data,
                   state.probe.view<Complex, 3>().data, count);
    bench.renew_spectrum();
  }
}

template class Lsqml<float>;
template class Lsqml<double>;

}  // namespace sonde::ptycho
