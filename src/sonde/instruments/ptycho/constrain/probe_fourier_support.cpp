// SPDX-License-Identifier: Apache-2.0
// In Fourier space the probe is nothing but the aperture: its spectrum is multiplied with the aperture, a little
// dilated; or, strictly, the sum over the modes of its intensities is made that of a pattern without specimen, of which
// only the shape counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"
#include "sonde/instruments/ptycho/optics/probe.h"

namespace sonde::ptycho::constrain {
namespace {

enum class Known { aperture, vacuum };

struct ProbeFourierSupportSettings {
  Known modulus = Known::aperture;
  double dilation = 1.1;

  void describe(Fields& fields) {
    fields.choice("modulus", modulus, {{"aperture", Known::aperture}, {"vacuum", Known::vacuum}},
                  {.help = "nothing outside of the aperture, or the modulus of the measured vacuum pattern"});
    fields.add("dilation", dilation,
               {.help = "aperture: its radius is multiplied with this", .min = 1, .max = 10, .changeable = true});
  }
};

template <class Real>
class ProbeFourierSupport final : public Constraint<Real> {
 public:
  using Complex = std::complex<Real>;

  ProbeFourierSupport(const ProbeFourierSupportSettings& settings, const ConstraintContext& context, const State& state)
      : strict_(settings.modulus == Known::vacuum),
        pixels_(state.window().rows * state.window().cols),
        fft_(Fft2d<Real>::prepare({.rows = state.window().rows, .cols = state.window().cols})) {
    if (strict_)
      take_vacuum(context.vacuum_intensity, state.window());
    else
      take_aperture(context, settings.dilation);
  }

  void apply(State& state, const ConstraintContext&) override {
    const auto probe = state.probe.view<Complex, 3>();
    const Index modes = probe.extent[0];
    each_mode(probe, [&](Complex* mode) { fft_.transform(mode, FftDirection::forward); });
    if (strict_)
      replace_modulus(probe.data, modes);
    else
      each_mode(probe, [&](Complex* mode) {
        for (Index i = 0; i < pixels_; ++i) mode[i] *= known_[static_cast<std::size_t>(i)];
      });
    each_mode(probe, [&](Complex* mode) {
      fft_.transform(mode, FftDirection::inverse);
      const Real scale = Real(1) / static_cast<Real>(pixels_);
      for (Index i = 0; i < pixels_; ++i) mode[i] *= scale;
    });
  }

 private:
  void take_aperture(const ConstraintContext& context, double dilation) {
    const Sampling& sampling = context.sampling;
    require_calibrated(sampling, "the Fourier support of the probe");
    if (!(context.semiangle > 0))
      throw Error(ErrorKind::bad_input, "the Fourier support of the probe needs the aperture")
          .hint("give semiangle_mrad, or modulus \"vacuum\" with a vacuum pattern");
    const double reach = std::min(sampling.angle_row() * static_cast<double>(sampling.rows),
                                  sampling.angle_col() * static_cast<double>(sampling.cols)) /
                         2;
    // A dilated aperture may end at the detector's edge, the aperture itself may not end beyond.
    const double radius = std::max(context.semiangle, std::min(context.semiangle * dilation, reach));
    const Array inside = aperture(sampling, radius, ApertureEdge::pixel);
    const auto values = inside.view<double, 2>();
    for (Index i = 0; i < values.count(); ++i) known_.push_back(static_cast<Real>(values.data[i]));
  }

  void take_vacuum(const Array& intensity, Window window) {
    if (intensity.empty())
      throw Error(ErrorKind::bad_input, "the strict Fourier support of the probe needs a pattern without specimen")
          .hint("give a vacuum pattern, or modulus \"aperture\"");
    if (intensity.shape() != Shape{window.rows, window.cols})
      throw Error(ErrorKind::bad_input, fmt::format("a vacuum pattern of {} for a probe of {} x {} pixels",
                                                    intensity.shape().text(), window.rows, window.cols));
    const auto values = intensity.view<double, 2>();
    double sum = 0;
    for (Index i = 0; i < values.count(); ++i) sum += std::max(values.data[i], 0.0);
    if (!(sum > 0)) throw Error(ErrorKind::bad_input, "the vacuum pattern is empty");
    for (Index i = 0; i < values.count(); ++i) known_.push_back(static_cast<Real>(std::max(values.data[i], 0.0) / sum));
  }

  /// `spectra` (modes, Ny, Nx): all modes are scaled alike so that the sum of intensities has the known shape and the
  /// power it had.
  void replace_modulus(Complex* spectra, Index modes) const {
    double power = 0;
    for (Index i = 0; i < modes * pixels_; ++i) power += std::norm(spectra[i]);
    for (Index i = 0; i < pixels_; ++i) {
      double now = 0;
      for (Index m = 0; m < modes; ++m) now += std::norm(spectra[m * pixels_ + i]);
      const double wanted = power * static_cast<double>(known_[static_cast<std::size_t>(i)]);
      // Where the model has no phase to keep, the strongest mode begins with zero.
      if (now > 0) {
        const auto factor = static_cast<Real>(std::sqrt(wanted / now));
        for (Index m = 0; m < modes; ++m) spectra[m * pixels_ + i] *= factor;
      } else {
        spectra[i] = static_cast<Real>(std::sqrt(wanted));
      }
    }
  }

  template <class Body>
  void each_mode(const View<Complex, 3>& probe, const Body& body) const {
    parallel_for(probe.extent[0], 1, [&](Index first, Index last, Worker&) {
      for (Index m = first; m < last; ++m) body(probe.data + m * pixels_);
    });
  }

  bool strict_;
  Index pixels_;
  Fft2d<Real> fft_;
  std::vector<Real> known_;  // (Ny, Nx): aperture, or vacuum intensity of sum one
};

}  // namespace

std::unique_ptr<ConstraintSetup> probe_fourier_support() {
  return std::make_unique<ConstraintSetupOf<ProbeFourierSupport, ProbeFourierSupportSettings>>();
}

}  // namespace sonde::ptycho::constrain
