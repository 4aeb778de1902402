// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/sampling.h"

namespace sonde::ptycho {

/// What constraints may know beside the estimate. Members that are not known keep their defaults; a constraint that
/// needs one says so when it is made.
struct ConstraintContext {
  Sampling sampling{};                    ///< of patterns and object
  double mean_counts = 0;                 ///< per frame
  double semiangle = 0;                   ///< of the probe-forming aperture, rad
  std::vector<double> slice_distances{};  ///< of each slice to the next, A
  Array vacuum_intensity{};  ///< (Ny, Nx) float64, pattern without specimen, zero frequency at [0,0]; any scale
  Array object_support{};    ///< (Y, X) uint8, 1 where the specimen may be; empty: around the positions
};

/// In which iterations of a run something is done, counted from 1.
struct When {
  Index start = 1, every = 1;
  std::optional<Index> stop{};  ///< the last one; unset: until the end

  [[nodiscard]] bool due(Index iteration) const {
    return iteration >= start && (iteration - start) % every == 0 && (!stop || iteration <= *stop);
  }
  void describe(Fields& fields);
};

/// One thing that is known about object or probe, imposed on the estimate between iterations
/// (docs/ptycho-theory.md#constraints). What comes out does not depend on the number of threads.
template <class Real>
class Constraint {
 public:
  virtual ~Constraint() = default;
  /// `state` has the shape and precision of the one this was made for.
  virtual void apply(State& state, const ConstraintContext& context) = 0;
};

/// Which constraint, when, and its own settings: one [[constraint]] table of a run file.
class ConstraintSetup {
 public:
  virtual ~ConstraintSetup() = default;
  void describe(Fields& fields) {
    describe_settings(fields);
    when.describe(fields);
  }
  /// Prepares transforms and masks. Throws Error(bad_input) when the context lacks what is needed, or when settings
  /// make no sense for this kind of object; `Real` is the precision of the state.
  [[nodiscard]] virtual std::unique_ptr<Constraint<float>> make_single(const ConstraintContext& context,
                                                                       const State& state) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Constraint<double>> make_double(const ConstraintContext& context,
                                                                        const State& state) const = 0;
  template <class Real>
  [[nodiscard]] std::unique_ptr<Constraint<Real>> make(const ConstraintContext& context, const State& state) const {
    if constexpr (std::is_same_v<Real, float>)
      return make_single(context, state);
    else
      return make_double(context, state);
  }

  When when;

 private:
  virtual void describe_settings(Fields& fields) = 0;
};

/// What a constraint may change. Both: the object in step with the probe, so that their product stays.
enum class Subject { object, probe, both };

/// A row of the table of constraints.
struct ConstraintKind {
  std::string_view name, summary;
  Subject subject;
  std::unique_ptr<ConstraintSetup> (*setup)();
  /// By several processes: it looks at the probe, or at one pixel of the object at a time. Others would leave seams.
  bool can_be_shared = false;
};

/// Every constraint there is, in the order in which they act.
[[nodiscard]] std::span<const ConstraintKind> constraint_kinds();
/// Throws Error(usage) naming the nearest.
[[nodiscard]] const ConstraintKind& constraint_kind(std::string_view name);

/// A constraint from its settings: Own<Real> is made of (settings, context, state).
template <template <class> class Own, class Settings>
class ConstraintSetupOf final : public ConstraintSetup {
 public:
  [[nodiscard]] std::unique_ptr<Constraint<float>> make_single(const ConstraintContext& context,
                                                               const State& state) const override {
    return std::make_unique<Own<float>>(settings_, context, state);
  }
  [[nodiscard]] std::unique_ptr<Constraint<double>> make_double(const ConstraintContext& context,
                                                                const State& state) const override {
    return std::make_unique<Own<double>>(settings_, context, state);
  }

 private:
  void describe_settings(Fields& fields) override { settings_.describe(fields); }

  Settings settings_;
};

}  // namespace sonde::ptycho
