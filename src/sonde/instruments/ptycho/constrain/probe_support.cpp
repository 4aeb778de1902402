// SPDX-License-Identifier: Apache-2.0
// The probe is zero further than a radius from the middle of its window. The edge falls over one pixel, or, where an
// apodisation is asked for, inside of the radius as half a cosine over a width.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct ProbeSupportSettings {
  std::optional<double> radius;
  double apodisation = 0;

  void describe(Fields& fields) {
    fields.add("radius", radius,
               {.help = "unset: nine tenths of what fits into the window", .unit = "A", .min = 0, .changeable = true});
    fields.add("apodisation", apodisation,
               {.help = "width inside of the radius over which the probe falls to zero; 0: one pixel",
                .unit = "A",
                .min = 0,
                .changeable = true});
  }
};

template <class Real>
class ProbeSupport final : public Constraint<Real> {
 public:
  ProbeSupport(const ProbeSupportSettings& settings, const ConstraintContext& context, const State& state) {
    const auto [rows, cols] = state.window();
    const double pixel_row = context.sampling.pixel_row(), pixel_col = context.sampling.pixel_col();
    const double fits = std::min(static_cast<double>(rows) * pixel_row, static_cast<double>(cols) * pixel_col) / 2;
    const double radius = settings.radius.value_or(0.9 * fits);
    const double edge = std::sqrt(pixel_row * pixel_col);
    if (radius < edge)
      throw Error(ErrorKind::bad_input,
                  fmt::format("a probe support of radius {:.4g} is smaller than a pixel of {:.4g}", radius, edge));
    if (settings.apodisation > radius)
      throw Error(ErrorKind::bad_input,
                  fmt::format("an apodisation over {:.4g} inside of a radius of {:.4g}", settings.apodisation, radius));
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const double distance = std::hypot(static_cast<double>(row - rows / 2) * pixel_row,
                                           static_cast<double>(col - cols / 2) * pixel_col);
        double inside = std::clamp((radius - distance) / edge + 0.5, 0.0, 1.0);
        if (settings.apodisation > 0) {
          const double depth = std::clamp((radius - distance) / settings.apodisation, 0.0, 1.0);
          inside = (1 - std::cos(std::numbers::pi * depth)) / 2;
        }
        inside_.push_back(static_cast<Real>(inside));
      }
  }

  void apply(State& state, const ConstraintContext&) override {
    const auto probe = state.probe.view<std::complex<Real>, 3>();
    for_lines(probe, [&](Index, Index row, std::complex<Real>* line) {
      const Real* inside = inside_.data() + row * probe.extent[2];
      for (Index i = 0; i < probe.extent[2]; ++i) line[i] *= inside[i];
    });
  }

 private:
  std::vector<Real> inside_;  // (Ny, Nx)
};

}  // namespace

std::unique_ptr<ConstraintSetup> probe_support() {
  return std::make_unique<ConstraintSetupOf<ProbeSupport, ProbeSupportSettings>>();
}

}  // namespace sonde::ptycho::constrain
