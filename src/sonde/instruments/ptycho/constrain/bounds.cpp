// SPDX-License-Identifier: Apache-2.0
// The nearest object within limits: a phase between two bounds (positivity: not below zero), an amplitude not above a
// maximum with the phase kept.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct BoundsSettings {
  bool positivity = false;
  double shrink = 0;
  std::optional<double> amplitude_max, phase_min, phase_max;

  void describe(Fields& fields) {
    fields.add("positivity", positivity, {.help = "no phase of a potential is below zero"});
    fields.add("shrink", shrink,
               {.help = "what is subtracted from the phase of a potential before",
                .unit = "rad",
                .min = 0,
                .changeable = true});
    fields.add("amplitude_max", amplitude_max,
               {.help = "largest amplitude of a complex object", .min = 0, .changeable = true});
    fields.add("phase_min", phase_min, {.help = "smallest phase", .unit = "rad", .changeable = true});
    fields.add("phase_max", phase_max, {.help = "largest phase", .unit = "rad", .changeable = true});
  }
};

template <class Real>
class Bounds final : public Constraint<Real> {
 public:
  Bounds(const BoundsSettings& settings, const ConstraintContext&, const State& state)
      : shrink_(static_cast<Real>(settings.shrink)) {
    const bool potential = state.type == ObjectType::potential;
    if (!potential && (settings.positivity || settings.shrink > 0))
      throw Error(ErrorKind::bad_input, "positivity and shrink are for potentials, this object is complex")
          .hint("give phase_min, or object type \"potential\"");
    if (potential && settings.amplitude_max)
      throw Error(ErrorKind::bad_input, "the amplitude of a potential is one everywhere, amplitude_max limits nothing")
          .hint("leave it out, or give object type \"complex\"");
    if (!settings.positivity && settings.shrink == 0 && !settings.amplitude_max && !settings.phase_min &&
        !settings.phase_max)
      throw Error(ErrorKind::bad_input, "no bound is given, so that nothing would be kept within any")
          .hint("give phase_min, phase_max, amplitude_max (complex) or positivity (potential)");
    if (settings.phase_min) low_ = static_cast<Real>(*settings.phase_min);
    if (settings.positivity) low_ = std::max(low_, Real(0));
    if (settings.phase_max) high_ = static_cast<Real>(*settings.phase_max);
    if (settings.amplitude_max) amplitude_ = static_cast<Real>(*settings.amplitude_max);
    if (low_ > high_) throw Error(ErrorKind::bad_input, "no phase is between the bounds: the lower is above the upper");
  }

  void apply(State& state, const ConstraintContext&) override {
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      for_lines(values, [&](Index, Index, T* line) {
        for (Index i = 0; i < values.extent[2]; ++i) line[i] = bounded(line[i]);
      });
    });
  }

 private:
  Real bounded(Real phase) const { return std::clamp(phase - shrink_, low_, high_); }

  std::complex<Real> bounded(std::complex<Real> transmission) const {
    const Real amplitude = std::abs(transmission);
    const Real phase = std::arg(transmission);
    // Unbounded parts keep their bits.
    if (phase < low_ || phase > high_)
      return std::polar(std::min(amplitude, amplitude_), std::clamp(phase, low_, high_));
    return amplitude > amplitude_ ? transmission * (amplitude_ / amplitude) : transmission;
  }

  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  Real shrink_, low_ = -infinity, high_ = infinity, amplitude_ = infinity;
};

}  // namespace

std::unique_ptr<ConstraintSetup> bounds() { return std::make_unique<ConstraintSetupOf<Bounds, BoundsSettings>>(); }

}  // namespace sonde::ptycho::constrain
