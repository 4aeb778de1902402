// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <variant>

#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/energy_meter.h"

namespace sonde::maxwell {

/// Which part of an array: the cells of the model, or the absorbing layers around them as well.
enum class Part { model, padded };

/// The fields of a run between two steps, where they are in memory: E at the time of the step, H half a step of the
/// propagator before. Views are [z][y][x]; their memory belongs to the run, keeps its size and place, and is valid
/// while it is shown.
class LiveFields {
 public:
  template <class T>
  explicit LiveFields(Propagator<T>& fields) : fields_(&fields) {}

  [[nodiscard]] const Grid& grid() const {
    return std::visit([](const auto* fields) -> const Grid& { return fields->grid(); }, fields_);
  }
  [[nodiscard]] Precision precision() const { return fields_.index() == 0 ? Precision::f32 : Precision::f64; }

  /// Calls body(View<const T, 3>), T being float or double. Throws Error(bad_input) for a component that is not there.
  template <class Body>
  decltype(auto) view(Component c, Part part, const Body& body) const {
    require(c);
    return std::visit(
        [&]<class T>(Propagator<T>* fields) { return body(View<const T, 3>(cut(fields->field(c), part))); }, fields_);
  }
  /// Calls body(View<T, 3>): what it writes is seen by the next step, but zero where a conductor or a wall is.
  template <class Body>
  decltype(auto) edit(Component c, Part part, const Body& body) {
    require(c);
    edited_ = true;
    return std::visit([&]<class T>(Propagator<T>* fields) { return body(cut(fields->field(c), part)); }, fields_);
  }
  [[nodiscard]] bool edited() const { return edited_; }

 private:
  void require(Component c) const;
  template <class T>
  [[nodiscard]] View<T, 3> cut(View<T, 3> whole, Part part) const {
    if (part == Part::padded) return whole;
    for (const Axis axis : all_axes) {
      whole.data += grid().low(axis) * whole.stride[dimension(axis)];
      whole.extent[dimension(axis)] = grid().cells(axis);
    }
    return whole;
  }

  std::variant<Propagator<float>*, Propagator<double>*> fields_;
  bool edited_ = false;
};

/// Who looks at a run.
struct Watch {
  /// Called before each step of the survey and behind the last one.
  std::function<void(Index step, LiveFields& fields)> look{};
  /// The energy before steps 0, energy_every, 2 energy_every, ..., when the first step of the propagator is through.
  std::function<void(Index step, const FieldEnergy& energy)> energy{};
  Index energy_every = 1;
};

}  // namespace sonde::maxwell
