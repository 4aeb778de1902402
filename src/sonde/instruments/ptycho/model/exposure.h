// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/model/loss.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// What all exposures of a reconstruction share: the measured frames, transforms, and the free space between slices.
/// Immutable; several threads use one.
template <class Real>
class Model {
 public:
  /// `propagators` is (S - 1, Ny, Nx) complex128 in FFT order: what a wave is multiplied with in Fourier space between
  /// a slice and the next; empty for a single slice. `measurement` must outlive the model.
  Model(const Measurement& measurement, Index slices, Index modes, const Array& propagators, Loss loss,
        FftEffort effort = FftEffort::measured);
  /// With transforms of (Ny, Nx) that others use as well.
  Model(const Measurement& measurement, Index slices, Index modes, const Array& propagators, Loss loss,
        std::shared_ptr<const Fft2d<Real>> fft);

  [[nodiscard]] const Measurement& measurement() const { return *measurement_; }
  [[nodiscard]] const Fft2d<Real>& fft() const { return *fft_; }
  [[nodiscard]] Index rows() const { return measurement_->rows(); }
  [[nodiscard]] Index cols() const { return measurement_->cols(); }
  [[nodiscard]] Index pixels() const { return rows() * cols(); }
  [[nodiscard]] Index slices() const { return slices_; }
  [[nodiscard]] Index modes() const { return modes_; }
  [[nodiscard]] Loss loss() const { return loss_; }
  /// 1e-10 of the mean counts per frame: what keeps divisions by the model's intensity finite.
  [[nodiscard]] Real eps() const { return eps_; }
  [[nodiscard]] const std::complex<Real>* propagator(Index slice) const;

 private:
  const Measurement* measurement_;
  std::shared_ptr<const Fft2d<Real>> fft_;
  Index slices_, modes_;
  Loss loss_;
  Real eps_;
  std::vector<std::complex<Real>> propagators_;
};

/// F P for every mode of a probe (M, Ny, Nx), unnormalised: shifted probes start from it.
template <class Real>
void probe_spectrum(const Model<Real>& model, const Array& probe, Array& spectrum);

/// One pattern on its way through the object and back, on one thread, with everything it needs in that thread's cache
/// (docs/ptycho-theory.md#forward-model). Keep one per worker; running allocates nothing.
///
///   exposure.forward(state, spectrum, j);          // probe -> slices -> detector
///   FrameSums fit = exposure.residual(j);          // detector: Psi' - Psi, or minus the gradient of the loss
///   exposure.back();                               // chi, after the last slice
///   for (Index s = slices - 1; s >= 0; --s) {
///     ... exposure.incident(s) and exposure.waves() tell how slice s should change ...
///     exposure.before_slice(s);                    // chi, before slice s
///   }                                              // after slice 0: how the shifted probe should change
template <class Real>
class Exposure {
 public:
  using Complex = std::complex<Real>;

  explicit Exposure(const Model<Real>& model);

  /// Finds the object's window and the shifted probe of a frame. `spectrum` (M + L, Ny, Nx) is F P of every mode and of
  /// every component by which the first one varies, and the probe is then taken from it; an empty Array while every
  /// position lies on a pixel.
  void aim(const State& state, const Array& spectrum, Index frame) {
    aim(state, spectrum, frame, state.placements[static_cast<std::size_t>(frame)]);
  }
  /// The same for a place of one's own.
  void aim(const State& state, const Array& spectrum, Index frame, const Placement& at);
  /// Aims, and goes on through the slices to the detector.
  void forward(const State& state, const Array& spectrum, Index frame) {
    forward(state, spectrum, frame, state.placements[static_cast<std::size_t>(frame)]);
  }
  void forward(const State& state, const Array& spectrum, Index frame, const Placement& at);
  /// Aims, and goes on through the slices until incident() of the last one; waves() is left as it was.
  void approach(const State& state, const Array& spectrum, Index frame) {
    approach(state, spectrum, frame, state.placements[static_cast<std::size_t>(frame)]);
  }
  void approach(const State& state, const Array& spectrum, Index frame, const Placement& at);
  /// Sends other waves, (M, Ny, Nx), the same way from before the first slice to the detector.
  void propagate(Complex* waves) const;
  /// The far field, (Ny, Nx), of a component by which only the first mode varies: what a unit of its weight adds.
  void component(const State& state, const Array& spectrum, Index which, Complex* to) const;
  /// Turns the far field into that of chi. With `change` false only the sums are made.
  FrameSums residual(Index frame, bool change = true) { return residual(frame, change, Real(1)); }
  /// The share of the residual of the loss `poisson` at which a frame's likelihood is largest, found from the far
  /// field.
  [[nodiscard]] Real poisson_step(Index frame);
  /// The residual, times a share.
  FrameSums residual(Index frame, bool change, Real share);
  void back();
  /// Multiplies by conj(O) of a slice, and for slices other than the first goes back through the free space before it.
  void before_slice(Index slice) { before_slice(slice, waves_); }
  /// The same with other waves, (M, Ny, Nx).
  void before_slice(Index slice, Complex* waves) const;
  /// The second half of it: from a slice (not the first) back to the one before.
  void free_space_back(Index slice) { free_space_back(slice, waves_); }
  /// Shifts waves() back by this frame's fraction, so that they are in the probe's own window.
  void unshift();
  /// The spectrum of that.
  void unshifted_spectrum();

  /// Puts something that lives in the probe's window, (M, Ny, Nx), into waves(), shifted to this frame. `spectrum` is
  /// its own, where probes are shifted.
  void bring(const Array& probe, const Array& spectrum);

  /// Free space between a slice and the next, for one wave (Ny, Nx).
  void free_space(Index gap, Complex* wave) const;

  /// The derivative of the shifted probe by the frame's row and column, (M, Ny, Nx) each, per pixel. Needs the
  /// spectrum.
  void differentiate(const Array& spectrum, Complex* by_row, Complex* by_col) const;

  /// The wave that hits a slice, for every mode: (M, Ny, Nx). Slice 0: the shifted probe.
  [[nodiscard]] const Complex* incident(Index slice) const { return incident_[static_cast<std::size_t>(slice)]; }
  /// (M, Ny, Nx): the far field after forward(), chi after back() and before_slice().
  [[nodiscard]] Complex* waves() { return waves_; }
  /// Room for another set of waves, (M, Ny, Nx): made at the first call.
  [[nodiscard]] Complex* others() {
    others_.resize(static_cast<std::size_t>(model_->modes() * model_->pixels()));
    return others_.data();
  }
  /// The object's window under this frame.
  [[nodiscard]] View<const Complex, 2> window(Index slice) const { return window_[static_cast<std::size_t>(slice)]; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  /// sqrt(I_m) of a frame, valid until the next call that asks for another.
  [[nodiscard]] const Real* amplitudes(Index frame) {
    return model_->measurement().template amplitudes<Real>(frame, amplitudes_.data());
  }
  /// Whether this frame's probe came from the spectrum.
  [[nodiscard]] bool shifted() const { return shifted_now_; }

 private:
  void free_space_back(Index slice, Complex* waves) const;
  void propagate_one(Complex* wave) const;
  /// The first mode of a frame from that of all frames and the components, both in real space or both spectra.
  const Complex* own_first(const State& state, Index frame, const Complex* probe, const Complex* components);
  /// Every mode from its spectrum, the first from `first`.
  void shift_spectrum(const Complex* first, const Complex* spectrum, const std::vector<Complex>& ramp_row,
                      const std::vector<Complex>& ramp_col, Complex* to) const;

  const Model<Real>* model_;
  Array buffer_;  // waves, shifted probes, waves that hit slices
  Complex *waves_, *shifted_;
  std::vector<Complex*> between_;  // storage of incident(s), s >= 1
  std::vector<const Complex*> incident_;
  std::vector<View<const Complex, 2>> window_;
  std::vector<Complex> ramp_row_, ramp_col_;
  std::vector<Real> amplitudes_;
  std::vector<Complex> own_;        // the first mode of this frame, where it varies
  const Complex* first_ = nullptr;  // its spectrum, where probes are shifted
  std::vector<Complex> others_;
  Placement placement_;
  bool shifted_now_ = false;
};

}  // namespace sonde::ptycho
