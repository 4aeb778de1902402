// SPDX-License-Identifier: Apache-2.0
// Convolution of every slice with a Gaussian, rows and columns one after the other. At the edges the weights that fall
// outside are left out and the others scaled up, so that a constant stays what it is.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct GaussianSettings {
  double sigma = 0;

  void describe(Fields& fields) {
    fields.add("sigma", sigma,
               {.help = "standard deviation of the Gaussian", .unit = "A", .min = 0, .changeable = true});
  }
};

/// Weights along one axis of n pixels, and what makes the sum of those that fall inside one.
template <class Real>
struct Kernel {
  Index radius = 0;
  std::vector<Real> weight;  // of offsets 0 ... radius, the others are the same
  std::vector<Real> scale;   // n

  Kernel(double sigma_px, Index n) {
    constexpr double reach = 4;  // standard deviations; what lies beyond is 6e-5 of the whole
    radius = std::min(static_cast<Index>(std::ceil(reach * sigma_px)), n - 1);
    std::vector<double> exact;
    for (Index k = 0; k <= radius; ++k) {
      const double at = static_cast<double>(k) / sigma_px;
      exact.push_back(std::exp(-0.5 * at * at));
      weight.push_back(static_cast<Real>(exact.back()));
    }
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      for (Index k = std::max(-radius, -i); k <= std::min(radius, n - 1 - i); ++k)
        sum += exact[static_cast<std::size_t>(std::abs(k))];
      scale.push_back(static_cast<Real>(1 / sum));
    }
  }
  Real operator[](Index offset) const { return weight[static_cast<std::size_t>(std::abs(offset))]; }
};

template <class Real>
class Gaussian final : public Constraint<Real> {
 public:
  Gaussian(const GaussianSettings& settings, const ConstraintContext& context, const State& state)
      : down_(checked(settings.sigma) / context.sampling.pixel_row(), state.object.shape()[1]),
        across_(settings.sigma / context.sampling.pixel_col(), state.object.shape()[2]) {
    const Array& values = state.type == ObjectType::complex ? state.object : state.phase;
    between_ = Array(Device::cpu(), values.shape(), values.dtype());
  }

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      const auto between = between_.view<T, 3>();
      const Index rows = values.extent[1], cols = values.extent[2];
      for_lines(values, [&](Index slice, Index row, const T* line) {
        T* to = &between(slice, row, 0);
        std::fill(to, to + cols, T{});
        for (Index k = -across_.radius; k <= across_.radius; ++k) {
          const Real weight = across_[k];
          for (Index i = std::max<Index>(0, -k); i < std::min(cols, cols - k); ++i) to[i] += weight * line[i + k];
        }
        for (Index i = 0; i < cols; ++i) to[i] *= across_.scale[static_cast<std::size_t>(i)];
      });
      for_lines(values, [&](Index slice, Index row, T* line) {
        std::fill(line, line + cols, T{});
        for (Index k = std::max(-down_.radius, -row); k <= std::min(down_.radius, rows - 1 - row); ++k) {
          const Real weight = down_[k] * down_.scale[static_cast<std::size_t>(row)];
          const T* from = &between(slice, row + k, 0);
          for (Index i = 0; i < cols; ++i) line[i] += weight * from[i];
        }
      });
    });
  }

 private:
  static double checked(double sigma) {
    if (sigma > 0) return sigma;
    throw Error(ErrorKind::bad_input, "gaussian: sigma is 0; expected a width above 0").hint("give sigma, in A");
  }

  Kernel<Real> down_, across_;
  Array between_;
};

}  // namespace

std::unique_ptr<ConstraintSetup> gaussian() {
  return std::make_unique<ConstraintSetupOf<Gaussian, GaussianSettings>>();
}

}  // namespace sonde::ptycho::constrain
