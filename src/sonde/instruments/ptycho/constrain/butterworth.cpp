// SPDX-License-Identifier: Apache-2.0
// Every slice's spectrum times 1 / (1 + (k / low_pass)^(2 n)) and times 1 - 1 / (1 + (k / high_pass)^(2 n)), but for
// k = 0: the mean is kept.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho::constrain {
namespace {

struct ButterworthSettings {
  std::optional<double> low_pass, high_pass;
  Index order = 2;

  void describe(Fields& fields) {
    fields.add("low_pass", low_pass,
               {.help = "frequency at which the low pass is at one half", .unit = "1/A", .min = 0, .changeable = true});
    fields.add(
        "high_pass", high_pass,
        {.help = "frequency at which the high pass is at one half", .unit = "1/A", .min = 0, .changeable = true});
    fields.add("order", order, {.help = "steepness of both", .min = 1, .max = 64});
  }
};

template <class Real>
class Butterworth final : public Constraint<Real> {
 public:
  using Complex = std::complex<Real>;

  Butterworth(const ButterworthSettings& settings, const ConstraintContext& context, const State& state)
      : rows_(state.object.shape()[1]),
        cols_(state.object.shape()[2]),
        fft_(Fft2d<Real>::prepare({.rows = rows_, .cols = cols_})),
        spectra_([&] { return std::vector<Complex>(static_cast<std::size_t>(rows_ * cols_)); }) {
    if (!settings.low_pass && !settings.high_pass)
      throw Error(ErrorKind::bad_input, "a Butterworth filter without a frequency passes all")
          .hint("give low_pass or high_pass, in 1/A");
    const auto step = [&](std::optional<double> corner, double k) {
      return 1 / (1 + std::pow(k / *corner, 2 * static_cast<double>(settings.order)));
    };
    for (Index row = 0; row < rows_; ++row)
      for (Index col = 0; col < cols_; ++col) {
        const double k = std::hypot(frequency(row, rows_) / context.sampling.pixel_row(),
                                    frequency(col, cols_) / context.sampling.pixel_col());
        double factor = 1;
        if (k > 0 && settings.low_pass) factor *= step(settings.low_pass, k);
        if (k > 0 && settings.high_pass) factor *= 1 - step(settings.high_pass, k);
        passed_.push_back(static_cast<Real>(factor / static_cast<double>(rows_ * cols_)));
      }
  }

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      parallel_for(values.extent[0], 1, [&](Index first, Index last, Worker& worker) {
        for (Index slice = first; slice < last; ++slice) filter(values[slice], spectra_[worker]);
      });
    });
  }

 private:
  template <class T>
  void filter(View<T, 2> values, std::vector<Complex>& spectrum) const {
    std::copy(values.data, values.data + values.count(), spectrum.begin());
    fft_.transform(spectrum.data(), FftDirection::forward);
    for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] *= passed_[i];
    fft_.transform(spectrum.data(), FftDirection::inverse);
    for (std::size_t i = 0; i < spectrum.size(); ++i)
      if constexpr (std::is_floating_point_v<T>)
        values.data[i] = spectrum[i].real();
      else
        values.data[i] = spectrum[i];
  }

  Index rows_, cols_;
  Fft2d<Real> fft_;
  PerWorker<std::vector<Complex>> spectra_;
  std::vector<Real> passed_;  // (Y, X), with the transforms' 1 / (Y X)
};

}  // namespace

std::unique_ptr<ConstraintSetup> butterworth() {
  return std::make_unique<ConstraintSetupOf<Butterworth, ButterworthSettings>>();
}

}  // namespace sonde::ptycho::constrain
