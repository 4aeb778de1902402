// SPDX-License-Identifier: Apache-2.0
// P <- c P with c^2 = mean counts / sum |P|^2. A complex object takes the inverse, shared by its slices, so that every
// exit wave stays: a factor can move between the two without the patterns noticing, and this fixes it.
#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct ProbePowerSettings {
  void describe(Fields&) {}
};

template <class Real>
void scale(const View<std::complex<Real>, 3>& values, double by) {
  const Real factor = static_cast<Real>(by);
  for_lines(values, [&](Index, Index, std::complex<Real>* line) {
    for (Index i = 0; i < values.extent[2]; ++i) line[i] *= factor;
  });
}

template <class Real>
class ProbePower final : public Constraint<Real> {
 public:
  ProbePower(const ProbePowerSettings&, const ConstraintContext& context, const State&) {
    if (!(context.mean_counts > 0) || !std::isfinite(context.mean_counts))
      throw Error(ErrorKind::bad_input, fmt::format("a probe cannot have {} counts per frame", context.mean_counts));
  }

  void apply(State& state, const ConstraintContext& context) override {
    const double power = total_power(state.probe);
    if (!(power > 0) || !std::isfinite(power)) return;  // the metrics report a run that has failed
    const double factor = std::sqrt(context.mean_counts / power);
    scale<Real>(state.probe.view<std::complex<Real>, 3>(), factor);
    if (state.components() > 0) {
      const auto weights = state.opr_weights.view<std::complex<Real>, 2>();
      for (Index i = 0; i < weights.count(); ++i) weights.data[i] *= static_cast<Real>(factor);
    }
    if (state.type == ObjectType::complex)
      scale<Real>(state.object.view<std::complex<Real>, 3>(),
                  std::pow(factor, -1 / static_cast<double>(state.slices())));
  }
};

}  // namespace

std::unique_ptr<ConstraintSetup> probe_power() {
  return std::make_unique<ConstraintSetupOf<ProbePower, ProbePowerSettings>>();
}

}  // namespace sonde::ptycho::constrain
