// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/instruments/ptycho/constrain/constraint.h"

namespace sonde::ptycho {

/// A constraint that a run asks for.
struct ChosenConstraint {
  std::string_view name;  ///< of a row of the table
  std::shared_ptr<const ConstraintSetup> setup;
};

/// The default settings of a constraint, changed by an object of values (a [[constraint]] table without its name).
/// Throws Error(usage) for an unknown name, key or a value outside of its limits; `where` begins the message.
[[nodiscard]] ChosenConstraint chosen_constraint(std::string_view name, const Value& settings, std::string_view where);

/// All constraints of a run. They act in the order of the table, whatever the order they were asked for in; two of one
/// kind act in that one.
template <class Real>
class Constraints {
 public:
  /// Throws what makes a constraint impossible, all problems in one error.
  Constraints(std::span<const ChosenConstraint> chosen, const ConstraintContext& context, const State& state);

  /// What may have changed, so that what depends on it is made anew (the probe's spectrum, moments of an engine).
  struct Changed {
    bool object = false, probe = false;
  };
  /// Applies those that are due in this iteration of the run, counted from 1.
  Changed apply(State& state, const ConstraintContext& context, Index iteration);

 private:
  struct Item {
    const ConstraintKind* kind;
    When when;
    std::unique_ptr<Constraint<Real>> constraint;
  };
  std::vector<Item> items_;
};

}  // namespace sonde::ptycho
