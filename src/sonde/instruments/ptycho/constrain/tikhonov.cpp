// SPDX-License-Identifier: Apache-2.0
// O <- vacuum + (O - vacuum) / (1 + w): the minimum of 1/2 |O' - O|^2 + w/2 |O' - vacuum|^2.
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct TikhonovSettings {
  double weight = 0.001;

  void describe(Fields& fields) {
    fields.add("weight", weight, {.help = "strength of the pull towards vacuum", .min = 0, .changeable = true});
  }
};

template <class Real>
class Tikhonov final : public Constraint<Real> {
 public:
  Tikhonov(const TikhonovSettings& settings, const ConstraintContext&, const State&)
      : keep_(static_cast<Real>(1 / (1 + settings.weight))) {}

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      for_lines(values, [&](Index, Index, T* line) {
        for (Index i = 0; i < values.extent[2]; ++i) line[i] = vacuum<T> + (line[i] - vacuum<T>)*keep_;
      });
    });
  }

 private:
  Real keep_;
};

}  // namespace

std::unique_ptr<ConstraintSetup> tikhonov() {
  return std::make_unique<ConstraintSetupOf<Tikhonov, TikhonovSettings>>();
}

}  // namespace sonde::ptycho::constrain
