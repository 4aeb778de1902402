// SPDX-License-Identifier: Apache-2.0
// Applying constraints by name in tests, to states in either precision.
#pragma once

#include <algorithm>
#include <complex>
#include <string_view>
#include <vector>

#include "sonde/instruments/ptycho/constrain/constraints.h"
#include "sonde/instruments/ptycho/model/test_scene.h"

namespace sonde::ptycho::testing {

inline Scene built(Scene scene) {
  scene.build();
  return scene;
}

/// {"key", value} pairs as a table of a run file.
inline Value table(std::initializer_list<std::pair<const char*, Value>> members) {
  Value result = Value::object();
  for (const auto& [key, value] : members) result[key] = value;
  return result;
}

template <class Real>
void apply_as(std::string_view name, const Value& settings, const ConstraintContext& context, State& state) {
  const ChosenConstraint chosen = chosen_constraint(name, settings, "[[constraint]]");
  chosen.setup->make<Real>(context, state)->apply(state, context);
}

/// In double precision.
inline void apply(std::string_view name, const Value& settings, const ConstraintContext& context, State& state) {
  apply_as<double>(name, settings, context, state);
}

template <class T>
std::vector<T> elements(const Array& array) {
  const auto view = array.view<T, 3>();
  return {view.data, view.data + view.count()};
}

template <class To, class From>
Array converted(const Array& array) {
  const std::vector<From> from = elements<From>(array);
  std::vector<To> to;
  for (const From& value : from) to.push_back(static_cast<To>(value));
  return Array::from(to, array.shape());
}

/// The same state in single precision.
inline State single(const State& state) {
  State copy = state.clone();
  copy.object = converted<complex64, complex128>(state.object);
  if (!state.phase.empty()) copy.phase = converted<float, double>(state.phase);
  copy.probe = converted<complex64, complex128>(state.probe);
  return copy;
}

/// The largest difference of two arrays in double precision, and of one in single precision from one in double.
template <class A, class B>
double difference(const std::vector<A>& a, const std::vector<B>& b) {
  double largest = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, std::abs(complex128(a[i]) - complex128(b[i])));
  return largest;
}

}  // namespace sonde::ptycho::testing
