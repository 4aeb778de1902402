// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/exposure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {

template <class Real>
Model<Real>::Model(const Measurement& measurement, Index slices, Index modes, const Array& propagators, Loss loss,
                   FftEffort effort)
    : Model(measurement, slices, modes, propagators, loss,
            std::make_shared<const Fft2d<Real>>(
                Fft2d<Real>::prepare({.rows = measurement.rows(), .cols = measurement.cols(), .effort = effort}))) {}

template <class Real>
Model<Real>::Model(const Measurement& measurement, Index slices, Index modes, const Array& propagators, Loss loss,
                   std::shared_ptr<const Fft2d<Real>> fft)
    : measurement_(&measurement),
      fft_(std::move(fft)),
      slices_(slices),
      modes_(modes),
      loss_(loss),
      eps_(static_cast<Real>(1e-10 * measurement.mean_counts())) {
  if (slices < 1 || modes < 1)
    throw Error(ErrorKind::bad_input, fmt::format("no model of {} slices and {} probe modes", slices, modes));
  if (slices > 1) {
    const Shape expected{slices - 1, measurement.rows(), measurement.cols()};
    if (propagators.shape() != expected)
      throw Error(ErrorKind::internal,
                  fmt::format("propagators of shape {}, expected {}", propagators.shape().text(), expected.text()));
    const auto from = propagators.view<std::complex<double>, 3>();
    for (Index i = 0; i < from.count(); ++i) propagators_.push_back(std::complex<Real>(from.data[i]));
  }
}

template <class Real>
const std::complex<Real>* Model<Real>::propagator(Index slice) const {
  return propagators_.data() + slice * pixels();
}

template <class Real>
void probe_spectrum(const Model<Real>& model, const Array& waves, Array& spectrum) {
  const auto probe = waves.view<std::complex<Real>, 3>();
  auto to = spectrum.view<std::complex<Real>, 3>();
  std::copy(probe.data, probe.data + probe.count(), to.data);
  for (Index m = 0; m < probe.extent[0]; ++m)
    model.fft().transform(to.data + m * model.pixels(), FftDirection::forward);
}

namespace {

template <class Real>
constexpr DType complex_type = dtype_of<std::complex<Real>>;

}  // namespace

template <class Real>
Exposure<Real>::Exposure(const Model<Real>& model)
    : model_(&model),
      buffer_(Device::cpu(), Shape{(model.slices() + 1) * model.modes(), model.rows(), model.cols()},
              complex_type<Real>),
      incident_(static_cast<std::size_t>(model.slices())),
      window_(static_cast<std::size_t>(model.slices())),
      ramp_row_(static_cast<std::size_t>(model.rows())),
      ramp_col_(static_cast<std::size_t>(model.cols())),
      amplitudes_(static_cast<std::size_t>(model.pixels())) {
  auto* at = static_cast<Complex*>(buffer_.data());
  const Index step = model.modes() * model.pixels();
  waves_ = at;
  shifted_ = at + step;
  for (Index s = 1; s < model.slices(); ++s) between_.push_back(at + (s + 1) * step);
}

template <class Real>
void Exposure<Real>::shift_spectrum(const Complex* first, const Complex* spectrum, const std::vector<Complex>& ramp_row,
                                    const std::vector<Complex>& ramp_col, Complex* to) const {
  const Model<Real>& model = *model_;
  const Index pixels = model.pixels();
  for (Index m = 0; m < model.modes(); ++m) {
    cpu::ramp(m == 0 ? first : spectrum + m * pixels, ramp_row.data(), ramp_col.data(),
              Real(1) / static_cast<Real>(pixels), false, model.rows(), model.cols(), to + m * pixels);
    model.fft().transform(to + m * pixels, FftDirection::inverse);
  }
}

template <class Real>
void Exposure<Real>::differentiate(const Array& spectrum, Complex* by_row, Complex* by_col) const {
  // d/df exp(-2 pi i k f) = -2 pi i k exp(-2 pi i k f).
  const auto derived = [](const std::vector<Complex>& ramp) {
    std::vector<Complex> to = ramp;
    const auto n = static_cast<Index>(ramp.size());
    for (Index i = 0; i < n; ++i) {
      const Index k = i < (n + 1) / 2 ? i : i - n;
      to[static_cast<std::size_t>(i)] *=
          Complex(0, static_cast<Real>(-2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
    }
    return to;
  };
  const Complex* from = spectrum.view<Complex, 3>().data;
  shift_spectrum(first_, from, derived(ramp_row_), ramp_col_, by_row);
  shift_spectrum(first_, from, ramp_row_, derived(ramp_col_), by_col);
}

template <class Real>
void Exposure<Real>::bring(const Array& probe, const Array& spectrum) {
  if (shifted()) {
    const Complex* from = spectrum.view<Complex, 3>().data;
    shift_spectrum(from, from, ramp_row_, ramp_col_, waves_);
    return;
  }
  const auto from = probe.view<Complex, 3>();
  std::copy(from.data, from.data + from.count(), waves_);
}

template <class Real>
const std::complex<Real>* Exposure<Real>::own_first(const State& state, Index frame, const Complex* probe,
                                                    const Complex* components) {
  const Index pixels = model_->pixels();
  own_.assign(probe, probe + pixels);
  const auto weights = state.opr_weights.view<Complex, 2>();
  for (Index l = 0; l < weights.extent[1]; ++l)
    cpu::add<Real>(weights(frame, l), components + l * pixels, own_.data(), pixels);
  return own_.data();
}

template <class Real>
void Exposure<Real>::aim(const State& state, const Array& spectrum, Index frame, const Placement& at) {
  const Model<Real>& model = *model_;
  const auto object = state.object.view<Complex, 3>();
  placement_ = at;
  for (Index s = 0; s < model.slices(); ++s) {
    View<const Complex, 2>& window = window_[static_cast<std::size_t>(s)];
    window.data = &object(s, placement_.row, placement_.col);
    window.extent[0] = model.rows();
    window.extent[1] = model.cols();
    window.stride[0] = object.stride[1];
    window.stride[1] = 1;
  }
  const Complex* probe = state.probe.view<Complex, 3>().data;
  const Index waves = model.modes() * model.pixels();
  shifted_now_ = !spectrum.empty();
  const bool varies = state.components() > 0;
  if (shifted()) {
    const Complex* from = spectrum.view<Complex, 3>().data;
    first_ = varies ? own_first(state, frame, from, from + waves) : from;
    cpu::fill_ramp<Real>(placement_.shift_row, ramp_row_);
    cpu::fill_ramp<Real>(placement_.shift_col, ramp_col_);
    shift_spectrum(first_, from, ramp_row_, ramp_col_, shifted_);
  } else if (varies) {
    const Complex* first = own_first(state, frame, probe, state.opr_modes.view<Complex, 3>().data);
    std::copy(first, first + model.pixels(), shifted_);
    std::copy(probe + model.pixels(), probe + waves, shifted_ + model.pixels());
  }
  incident_[0] = shifted() || varies ? shifted_ : probe;
}

template <class Real>
void Exposure<Real>::approach(const State& state, const Array& spectrum, Index frame, const Placement& at) {
  aim(state, spectrum, frame, at);
  const Model<Real>& model = *model_;
  for (Index s = 1; s < model.slices(); ++s) {
    Complex* hit = between_[static_cast<std::size_t>(s - 1)];
    incident_[static_cast<std::size_t>(s)] = hit;
    for (Index m = 0; m < model.modes(); ++m) {
      const Index mode = m * model.pixels();
      cpu::multiply<Real>(window(s - 1), incident(s - 1) + mode, hit + mode);
      free_space(s - 1, hit + mode);
    }
  }
}

template <class Real>
void Exposure<Real>::forward(const State& state, const Array& spectrum, Index frame, const Placement& at) {
  approach(state, spectrum, frame, at);
  const Model<Real>& model = *model_;
  const Index last = model.slices() - 1;
  for (Index m = 0; m < model.modes(); ++m) {
    Complex* wave = waves_ + m * model.pixels();
    cpu::multiply<Real>(window(last), incident(last) + m * model.pixels(), wave);
    model.fft().transform(wave, FftDirection::forward);
  }
}

template <class Real>
void Exposure<Real>::propagate_one(Complex* wave) const {
  for (Index s = 0; s < model_->slices(); ++s) {
    if (s > 0) free_space(s - 1, wave);
    cpu::multiply<Real>(window(s), wave, wave);
  }
  model_->fft().transform(wave, FftDirection::forward);
}

template <class Real>
void Exposure<Real>::propagate(Complex* waves) const {
  for (Index m = 0; m < model_->modes(); ++m) propagate_one(waves + m * model_->pixels());
}

template <class Real>
void Exposure<Real>::component(const State& state, const Array& spectrum, Index which, Complex* to) const {
  const Model<Real>& model = *model_;
  const Index pixels = model.pixels();
  if (shifted()) {
    cpu::ramp(spectrum.view<Complex, 3>().data + (model.modes() + which) * pixels, ramp_row_.data(), ramp_col_.data(),
              Real(1) / static_cast<Real>(pixels), false, model.rows(), model.cols(), to);
    model.fft().transform(to, FftDirection::inverse);
  } else {
    std::copy_n(state.opr_modes.view<Complex, 3>().data + which * pixels, pixels, to);
  }
  propagate_one(to);
}

template <class Real>
void Exposure<Real>::free_space(Index gap, Complex* wave) const {
  const Index pixels = model_->pixels();
  model_->fft().transform(wave, FftDirection::forward);
  cpu::filter(model_->propagator(gap), Real(1) / static_cast<Real>(pixels), false, wave, pixels);
  model_->fft().transform(wave, FftDirection::inverse);
}

template <class Real>
FrameSums Exposure<Real>::residual(Index frame, bool change, Real share) {
  const Model<Real>& model = *model_;
  // The transforms do not scale; intensities are those of unitary ones, and 1 / pixels of both ways is taken here.
  const Real scale = Real(1) / static_cast<Real>(model.pixels());
  return cpu::residual<Real>(model.loss(), {amplitudes(frame), model.measurement().template weights<Real>()},
                             model.eps(), scale, share * scale, change, waves_, model.modes(), model.pixels());
}

template <class Real>
Real Exposure<Real>::poisson_step(Index frame) {
  const Model<Real>& model = *model_;
  return cpu::poisson_step<Real>({amplitudes(frame), model.measurement().template weights<Real>()}, model.eps(),
                                 Real(1) / static_cast<Real>(model.pixels()), waves_, model.modes(), model.pixels());
}

template <class Real>
void Exposure<Real>::back() {
  for (Index m = 0; m < model_->modes(); ++m)
    model_->fft().transform(waves_ + m * model_->pixels(), FftDirection::inverse);
}

template <class Real>
void Exposure<Real>::before_slice(Index slice, Complex* waves) const {
  for (Index m = 0; m < model_->modes(); ++m)
    cpu::multiply_conjugate<Real>(window(slice), waves + m * model_->pixels());
  if (slice > 0) free_space_back(slice, waves);
}

template <class Real>
void Exposure<Real>::free_space_back(Index slice, Complex* waves) const {
  const Index pixels = model_->pixels();
  for (Index m = 0; m < model_->modes(); ++m) {
    Complex* wave = waves + m * pixels;
    model_->fft().transform(wave, FftDirection::forward);
    cpu::filter(model_->propagator(slice - 1), Real(1) / static_cast<Real>(pixels), true, wave, pixels);
    model_->fft().transform(wave, FftDirection::inverse);
  }
}

template <class Real>
void Exposure<Real>::unshifted_spectrum() {
  for (Index m = 0; m < model_->modes(); ++m) {
    Complex* wave = waves_ + m * model_->pixels();
    model_->fft().transform(wave, FftDirection::forward);
    cpu::ramp(wave, ramp_row_.data(), ramp_col_.data(), Real(1), true, model_->rows(), model_->cols(), wave);
  }
}

template <class Real>
void Exposure<Real>::unshift() {
  if (!shifted()) return;
  unshifted_spectrum();
  const Real scale = Real(1) / static_cast<Real>(model_->pixels());
  for (Index m = 0; m < model_->modes(); ++m) {
    Complex* wave = waves_ + m * model_->pixels();
    model_->fft().transform(wave, FftDirection::inverse);
    for (Index i = 0; i < model_->pixels(); ++i) wave[i] *= scale;
  }
}

template class Model<float>;
template class Model<double>;
template class Exposure<float>;
template class Exposure<double>;
template void probe_spectrum(const Model<float>&, const Array&, Array&);
template void probe_spectrum(const Model<double>&, const Array&, Array&);

}  // namespace sonde::ptycho
