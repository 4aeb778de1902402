// SPDX-License-Identifier: Apache-2.0
// Inside of the aperture the phase of the first mode's spectrum is that of a lens: it is replaced by, or drawn towards,
// the least-squares sum of a constant, a ramp (where the probe lies) and the aberrations up to an order. The fit is of
// differences between neighbouring pixels, each within half a turn, so that nothing has to be unwrapped; weights are
// the moduli of both.
#include <Eigen/QR>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"
#include "sonde/instruments/ptycho/optics/aberrations.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho::constrain {
namespace {

struct ProbeAberrationsSettings {
  Index order = 3;
  double weight = 1;

  void describe(Fields& fields) {
    fields.add("order", order, {.help = "aberrations up to C_order,m take part", .min = 1, .max = 5});
    fields.add("weight", weight,
               {.help = "1 replaces the phase, less draws it there", .min = 0, .max = 1, .changeable = true});
  }
};

/// Aberrations of coefficient one, each that is not round in both of its directions.
std::vector<Aberrations> terms_up_to(Index order) {
  std::vector<Aberrations> terms;
  for (const std::string& name : Aberrations::names()) {
    if (name.size() != 3 || name[0] != 'C' || name[1] - '0' > order) continue;
    if (!std::isdigit(name[2])) continue;
    const int fold = name[2] - '0';
    for (int turn = 0; turn < (fold == 0 ? 1 : 2); ++turn) {
      Aberrations one;
      one.set(name, 1);
      if (turn == 1) one.set("phi" + name.substr(1), std::numbers::pi / (2 * fold));
      terms.push_back(one);
    }
  }
  return terms;
}

template <class Real>
class ProbeAberrations final : public Constraint<Real> {
 public:
  using Complex = std::complex<Real>;

  ProbeAberrations(const ProbeAberrationsSettings& settings, const ConstraintContext& context, const State& state)
      : weight_(settings.weight),
        rows_(state.window().rows),
        cols_(state.window().cols),
        fft_(Fft2d<double>::prepare({.rows = rows_, .cols = cols_})) {
    const Sampling& sampling = context.sampling;
    require_calibrated(sampling, "a fit of the probe's aberrations");
    if (!(context.semiangle > 0))
      throw Error(ErrorKind::bad_input, "a fit of the probe's aberrations needs the aperture")
          .hint("give semiangle_mrad");
    // In the order of increasing frequency, zero in the middle: neighbours in memory are neighbours in the aperture.
    const std::vector<Aberrations> terms = terms_up_to(settings.order);
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) {
        const double y = sampling.wavelength * sampling.dk_row * static_cast<double>(row - rows_ / 2);
        const double x = sampling.wavelength * sampling.dk_col * static_cast<double>(col - cols_ / 2);
        const double alpha = std::hypot(y, x), phi = std::atan2(y, x);
        inside_.push_back(alpha <= context.semiangle);
        // A ramp in both directions first.
        basis_.push_back(static_cast<double>(row - rows_ / 2));
        basis_.push_back(static_cast<double>(col - cols_ / 2));
        for (const Aberrations& term : terms) basis_.push_back(-term.chi(alpha, phi, sampling.wavelength));
      }
    count_ = static_cast<Index>(terms.size()) + 2;
    scale_basis();
  }

  void apply(State& state, const ConstraintContext&) override {
    const auto probe = state.probe.view<Complex, 3>();
    Array spectrum = spectrum_of(probe);
    complex128* wave = spectrum.view<complex128, 3>().data;
    const std::vector<double> phase = fitted(wave);
    complex128 constant = 0;
    for (Index i = 0; i < rows_ * cols_; ++i)
      if (inside(i)) constant += std::norm(wave[i]) > 0 ? wave[i] * std::polar(1.0, -phase[index(i)]) : 0;
    if (std::abs(constant) > 0) constant /= std::abs(constant);
    for (Index i = 0; i < rows_ * cols_; ++i)
      if (inside(i))
        wave[i] = (1 - weight_) * wave[i] + weight_ * std::abs(wave[i]) * constant * std::polar(1.0, phase[index(i)]);
    Array corner = centre_to_corner(spectrum);
    fft_.transform(corner.view<complex128, 3>().data, FftDirection::inverse);
    const Array centred = corner_to_centre(corner);
    const complex128* from = static_cast<const complex128*>(centred.data());
    for (Index i = 0; i < rows_ * cols_; ++i) probe.data[i] = Complex(from[i] / static_cast<double>(rows_ * cols_));
  }

 private:
  [[nodiscard]] static std::size_t index(Index i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool inside(Index i) const { return inside_[index(i)]; }

  /// Columns of like size, so that the normal matrix is well conditioned.
  void scale_basis() {
    for (Index b = 0; b < count_; ++b) {
      double most = 0;
      for (Index i = 0; i < rows_ * cols_; ++i)
        if (inside(i)) most = std::max(most, std::abs(basis_[index(i * count_ + b)]));
      for (Index i = 0; i < rows_ * cols_; ++i) basis_[index(i * count_ + b)] /= most > 0 ? most : 1;
    }
  }

  /// Of the first mode, zero frequency in the middle, the probe's middle at the origin.
  [[nodiscard]] Array spectrum_of(const View<Complex, 3>& probe) const {
    Array wave(Device::cpu(), Shape{1, rows_, cols_}, DType::c128);
    for (Index i = 0; i < rows_ * cols_; ++i) wave.view<complex128, 3>().data[i] = complex128(probe.data[i]);
    Array corner = centre_to_corner(wave);
    fft_.transform(corner.view<complex128, 3>().data, FftDirection::forward);
    return corner_to_centre(corner);
  }

  [[nodiscard]] std::vector<double> fitted(const complex128* wave) const {
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(count_, count_);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(count_), difference(count_);
    const auto pair = [&](Index a, Index b) {
      if (!inside(a) || !inside(b)) return;
      const complex128 turn = wave[b] * std::conj(wave[a]);
      const double weight = std::abs(turn);
      for (Index k = 0; k < count_; ++k) difference(k) = basis_[index(b * count_ + k)] - basis_[index(a * count_ + k)];
      normal.selfadjointView<Eigen::Lower>().rankUpdate(difference, weight);
      right += weight * std::arg(turn) * difference;
    };
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) {
        const Index here = row * cols_ + col;
        if (col + 1 < cols_) pair(here, here + 1);
        if (row + 1 < rows_) pair(here, here + cols_);
      }
    const Eigen::MatrixXd whole = normal.selfadjointView<Eigen::Lower>();
    const Eigen::VectorXd found = whole.completeOrthogonalDecomposition().solve(right);
    std::vector<double> phase(index(rows_ * cols_));
    for (Index i = 0; i < rows_ * cols_; ++i)
      for (Index k = 0; k < count_; ++k) phase[index(i)] += found(k) * basis_[index(i * count_ + k)];
    return phase;
  }

  double weight_;
  Index rows_, cols_, count_ = 0;
  Fft2d<double> fft_;
  std::vector<char> inside_;   // (Ny, Nx), zero frequency in the middle
  std::vector<double> basis_;  // (Ny, Nx, count)
};

}  // namespace

std::unique_ptr<ConstraintSetup> probe_aberrations() {
  return std::make_unique<ConstraintSetupOf<ProbeAberrations, ProbeAberrationsSettings>>();
}

}  // namespace sonde::ptycho::constrain
