// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/workbench.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/interrupt.h"

namespace sonde::ptycho {

template <class Real>
Workbench<Real>::Workbench(const Model<Real>& model, State& state, std::vector<Index> active, std::uint64_t seed,
                           WorkLimits limits, Share* share, DevicePatterns* there)
    : model_(&model),
      state_(&state),
      share_(share),
      active_of_scan_(std::move(active)),
      active_(share == nullptr ? active_of_scan_ : share->own(active_of_scan_)),
      seed_(seed),
      limits_(std::move(limits)),
      pass_(model),
      device_pass_(there == nullptr ? nullptr : std::make_unique<DevicePass<Real>>(model, *there, limits_.groups)),
      fit_(static_cast<std::size_t>(model.measurement().count())) {
  if (share != nullptr)
    pass_.finish_with([share](BatchSums& sums, Wanted wanted) { share->add_up<Real>(sums, wanted); });
  renew_spectrum();
}

template <class Real>
DevicePass<Real>* Workbench<Real>::device_pass() {
  if (device_pass_ && std::exchange(device_is_behind_, false)) device_pass_->take(*state_, keep_spectrum_);
  return device_pass_.get();
}

template <class Real>
void Workbench<Real>::settings_changed() {
  if (device_pass_) device_pass_->forget();
}

template <class Real>
void Workbench<Real>::compare(std::span<const Index> frames, std::span<FrameSums> fit) {
  if (DevicePass<Real>* there = device_pass())
    there->compare(frames, fit);
  else
    pass_.compare(*state_, spectrum_, frames, fit);
}

template <class Real>
SharedBatches Workbench<Real>::batches(const BatchSettings& settings, Index iteration) const {
  const IterationKey key{seed_, static_cast<std::uint64_t>(iteration)};
  const std::vector<Placement>& placements = share_ == nullptr ? state_->placements : share_->placements();
  SharedBatches batches;
  Batches all = overlapping_batches(active_of_scan_, placements, std::min(settings.size, limits_.most_batch),
                                    settings.spread, key);
  for (Index b = 0; b < all.count(); ++b) {
    batches.sizes.push_back(static_cast<Index>(all[b].size()));
    if (share_ == nullptr) continue;
    const std::vector<Index> own = share_->own(all[b]);
    batches.here.members.insert(batches.here.members.end(), own.begin(), own.end());
    batches.here.bounds.push_back(static_cast<Index>(batches.here.members.size()));
  }
  if (share_ == nullptr) batches.here = std::move(all);
  return batches;
}

template <class Real>
void Workbench<Real>::sum(std::span<double> values) const {
  if (share_ != nullptr) share_->sum(values);
}

template <class Real>
void Workbench<Real>::largest(std::span<double> values) const {
  if (share_ != nullptr) share_->largest(values);
}

template <class Real>
std::vector<double> Workbench<Real>::joined(std::vector<double> values) const {
  return share_ == nullptr ? values : share_->joined(values);
}

template <class Real>
void Workbench<Real>::check_interrupt() const {
  if (share_ == nullptr)
    sonde::check_interrupt();
  else
    share_->check_interrupt();
}

template <class Real>
void Workbench<Real>::renew_spectrum() {
  if (device_pass_) {
    device_is_behind_ = true;
    return;
  }
  if (!keep_spectrum_ && !state_->fractional()) {
    spectrum_ = {};
    return;
  }
  const Index modes = state_->modes(), components = state_->components();
  const Shape shape{modes + components, model_->rows(), model_->cols()};
  if (spectrum_.empty() || spectrum_.shape() != shape) spectrum_ = Array(Device::cpu(), shape, state_->probe.dtype());
  using Complex = std::complex<Real>;
  Complex* to = spectrum_.view<Complex, 3>().data;
  const auto transform = [&](const Array& waves, Complex* spectra) {
    const auto from = waves.view<Complex, 3>();
    std::copy(from.data, from.data + from.count(), spectra);
    for (Index m = 0; m < from.extent[0]; ++m)
      model_->fft().transform(spectra + m * model_->pixels(), FftDirection::forward);
  };
  transform(state_->probe, to);
  if (components > 0) transform(state_->opr_modes, to + modes * model_->pixels());
}

template <class Real>
void Workbench<Real>::keep_spectrum() {
  keep_spectrum_ = true;
  renew_spectrum();
}

template <class Real>
void Workbench<Real>::probe_from_spectrum() {
  using Complex = std::complex<Real>;
  const auto from = spectrum_.view<Complex, 3>();
  auto to = state_->probe.view<Complex, 3>();
  std::copy(from.data, from.data + to.count(), to.data);
  const Real scale = Real(1) / static_cast<Real>(model_->pixels());
  for (Index m = 0; m < to.extent[0]; ++m) {
    Complex* wave = to.data + m * model_->pixels();
    model_->fft().transform(wave, FftDirection::inverse);
    for (Index i = 0; i < model_->pixels(); ++i) wave[i] *= scale;
  }
}

template class Workbench<float>;
template class Workbench<double>;

}  // namespace sonde::ptycho
