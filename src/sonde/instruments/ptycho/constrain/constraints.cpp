// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/constrain/constraints.h"

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {

ChosenConstraint chosen_constraint(std::string_view name, const Value& settings, std::string_view where) {
  const ConstraintKind& kind = constraint_kind(name);
  std::shared_ptr<ConstraintSetup> setup = kind.setup();
  Fields(*setup).assign_all(settings, where);
  return {kind.name, std::move(setup)};
}

template <class Real>
Constraints<Real>::Constraints(std::span<const ChosenConstraint> chosen, const ConstraintContext& context,
                               const State& state) {
  Problems problems;
  for (const ChosenConstraint& choice : chosen)
    problems.collect([&] {
      items_.push_back(
          {&constraint_kind(choice.name), choice.setup->when, choice.setup->template make<Real>(context, state)});
    });
  problems.throw_if_any("constraints that cannot be imposed");
  // Rows of one table, so that addresses have its order.
  std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.kind < b.kind; });
}

template <class Real>
typename Constraints<Real>::Changed Constraints<Real>::apply(State& state, const ConstraintContext& context,
                                                             Index iteration) {
  Changed changed;
  for (const Item& item : items_) {
    if (!item.when.due(iteration)) continue;
    item.constraint->apply(state, context);
    changed.object |= item.kind->subject != Subject::probe;
    changed.probe |= item.kind->subject != Subject::object;
  }
  return changed;
}

template class Constraints<float>;
template class Constraints<double>;

}  // namespace sonde::ptycho
