// SPDX-License-Identifier: Apache-2.0
// Every slice becomes the mean of all: the closest object that is the same at every depth.
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct SliceEqualSettings {
  void describe(Fields&) {}
};

template <class Real>
class SliceEqual final : public Constraint<Real> {
 public:
  SliceEqual(const SliceEqualSettings&, const ConstraintContext&, const State&) {}

  void apply(State& state, const ConstraintContext&) override {
    const Index slices = state.slices();
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      View<T, 3> first = values;
      first.extent[0] = 1;
      for_lines(first, [&](Index, Index, T* line) {
        for (Index i = 0; i < values.extent[2]; ++i) {
          T sum{};
          for (Index s = 0; s < slices; ++s) sum += line[s * values.stride[0] + i];
          for (Index s = 0; s < slices; ++s) line[s * values.stride[0] + i] = sum / static_cast<Real>(slices);
        }
      });
    });
  }
};

}  // namespace

std::unique_ptr<ConstraintSetup> slice_equal() {
  return std::make_unique<ConstraintSetupOf<SliceEqual, SliceEqualSettings>>();
}

}  // namespace sonde::ptycho::constrain
