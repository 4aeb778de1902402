// SPDX-License-Identifier: Apache-2.0
// A probe of small angle says little about what changes fast along the beam: the object's spectrum in three dimensions
// is multiplied with W = 1 - (2 / pi) atan2((g kz)^2, kx^2 + ky^2), g = beta dz / dx (Chen et al. 2021).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho::constrain {
namespace {

struct KzSettings {
  double beta = 1;
  Index padding = 0;

  void describe(Fields& fields) {
    fields.add("beta", beta, {.help = "strength; 0 leaves all as it is", .min = 0, .changeable = true});
    fields.add("padding", padding,
               {.help = "copies of the end slices put at both ends, so that the ends do not meet",
                .unit = "slices",
                .min = 0});
  }
};

template <class Real>
class Kz final : public Constraint<Real> {
 public:
  using Complex = std::complex<Real>;

  Kz(const KzSettings& settings, const ConstraintContext& context, const State& state)
      : padding_(settings.padding),
        depth_(state.slices() + 2 * settings.padding),
        rows_(state.object.shape()[1]),
        cols_(state.object.shape()[2]),
        across_(Fft2d<Real>::prepare({.rows = rows_, .cols = cols_})),
        along_(Fft2d<Real>::prepare({.rows = 1, .cols = depth_})),
        spectra_(Device::cpu(), {depth_, rows_, cols_}, state.object.dtype()),
        columns_([&] { return std::vector<Complex>(static_cast<std::size_t>(depth_)); }) {
    if (state.slices() < 2) throw Error(ErrorKind::bad_input, "the kz filter is for objects of several slices");
    const Sampling& sampling = context.sampling;
    const std::vector<double>& distances = context.slice_distances;
    if (distances.empty() || !(distances.front() > 0))
      throw Error(ErrorKind::bad_input, "the kz filter needs the thickness of the slices")
          .hint("give slice_thickness_A");
    if (std::any_of(distances.begin(), distances.end(), [&](double d) { return d != distances.front(); }))
      throw Error(ErrorKind::bad_input, "the kz filter needs slices that are all equally thick")
          .hint("one number as slice_thickness_A, or leave the constraint out");
    const double pixel = std::sqrt(sampling.pixel_row() * sampling.pixel_col());
    for (Index s = 0; s < depth_; ++s) {
      // g kz, with kz = frequency / dz.
      const double along = settings.beta * frequency(s, depth_) / pixel;
      along2_.push_back(along * along);
    }
    for (Index row = 0; row < rows_; ++row) row2_.push_back(square(frequency(row, rows_) / sampling.pixel_row()));
    for (Index col = 0; col < cols_; ++col) col2_.push_back(square(frequency(col, cols_) / sampling.pixel_col()));
  }

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      const auto spectra = spectra_.view<Complex, 3>();
      const Index slices = values.extent[0], pixels = rows_ * cols_;
      parallel_for(depth_, 1, [&](Index first, Index last, Worker&) {
        for (Index s = first; s < last; ++s) {
          check_interrupt();
          const T* from = values.data + std::clamp<Index>(s - padding_, 0, slices - 1) * pixels;
          Complex* to = spectra.data + s * pixels;
          std::copy(from, from + pixels, to);
          across_.transform(to, FftDirection::forward);
        }
      });
      filter(spectra);
      parallel_for(slices, 1, [&](Index first, Index last, Worker&) {
        for (Index s = first; s < last; ++s) {
          check_interrupt();
          Complex* from = spectra.data + (s + padding_) * pixels;
          across_.transform(from, FftDirection::inverse);
          T* to = values.data + s * pixels;
          for (Index i = 0; i < pixels; ++i)
            if constexpr (std::is_floating_point_v<T>)
              to[i] = from[i].real();
            else
              to[i] = from[i];
        }
      });
    });
  }

 private:
  static double square(double value) { return value * value; }

  void filter(const View<Complex, 3>& spectra) {
    const double scale = 1 / static_cast<double>(depth_ * rows_ * cols_);
    parallel_for(rows_, 1, [&](Index first, Index last, Worker& worker) {
      std::vector<Complex>& column = columns_[worker];
      for (Index row = first; row < last; ++row) {
        check_interrupt();
        for (Index col = 0; col < cols_; ++col) {
          Complex* at = &spectra(0, row, col);
          const Index stride = spectra.stride[0];
          const double across2 = row2_[static_cast<std::size_t>(row)] + col2_[static_cast<std::size_t>(col)];
          for (Index s = 0; s < depth_; ++s) column[static_cast<std::size_t>(s)] = at[s * stride];
          along_.transform(column.data(), FftDirection::forward);
          for (std::size_t s = 0; s < column.size(); ++s)
            column[s] *= static_cast<Real>(scale * (1 - 2 / std::numbers::pi * std::atan2(along2_[s], across2)));
          along_.transform(column.data(), FftDirection::inverse);
          for (Index s = 0; s < depth_; ++s) at[s * stride] = column[static_cast<std::size_t>(s)];
        }
      }
    });
  }

  Index padding_, depth_, rows_, cols_;
  Fft2d<Real> across_, along_;
  Array spectra_;  // (depth, Y, X)
  PerWorker<std::vector<Complex>> columns_;
  std::vector<double> along2_, row2_, col2_;  // (g kz)^2, ky^2, kx^2
};

}  // namespace

std::unique_ptr<ConstraintSetup> kz() { return std::make_unique<ConstraintSetupOf<Kz, KzSettings>>(); }

}  // namespace sonde::ptycho::constrain
