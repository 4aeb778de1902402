// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <variant>

#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/energy_meter.h"

namespace sonde::maxwell {

/// Which part of an array: the cells of the model, or the absorbing layers around them as well.
enum class Part { model, padded };

/// The fields of a run between two steps, where they are in memory: E at the time of the step, H half a step of the
/// propagator before; or those of a sweep backwards (BackPropagator::field()), which cannot be edited. Views are
/// [z][y][x]; their memory belongs to the run, keeps its size and place, and is valid while it is shown. Of a divided
/// grid they are those of the part.
class LiveFields {
 public:
  template <class T>
  explicit LiveFields(Propagator<T>& fields, const GridPart* part = nullptr)
      : grid_(&fields.grid()),
        part_(part),
        field_(Of<T>(field_of(fields))),
        state_([&fields] { return fields.state(); }) {}
  template <class T>
  explicit LiveFields(BackPropagator<T>& sweep) : grid_(&sweep.grid()), field_(Of<T>(field_of(sweep))) {}

  [[nodiscard]] const Grid& grid() const { return *grid_; }
  /// Null: of the whole grid.
  [[nodiscard]] const GridPart* part() const { return part_; }
  [[nodiscard]] Precision precision() const { return field_.index() == 0 ? Precision::f32 : Precision::f64; }
  /// All that a run needs to go on from here (Shot::start). Not of a sweep backwards.
  [[nodiscard]] State state() const { return state_(); }

  /// Calls body(View<const T, 3>), T being float or double. Throws Error(bad_input) for a component that is not there.
  template <class Body>
  decltype(auto) view(Component c, Part part, const Body& body) const {
    require(c);
    return std::visit([&]<class T>(const Of<T>& field) { return body(View<const T, 3>(cut(field(c), part))); }, field_);
  }
  /// Calls body(View<T, 3>): what it writes is seen by the next step, but zero where a conductor or a wall is. Throws
  /// Error(not_supported) in a sweep backwards.
  template <class Body>
  decltype(auto) edit(Component c, Part part, const Body& body) {
    require(c);
    require_editable();
    edited_ = true;
    return std::visit([&]<class T>(const Of<T>& field) { return body(cut(field(c), part)); }, field_);
  }
  [[nodiscard]] bool edited() const { return edited_; }

 private:
  template <class T>
  using Of = std::function<View<T, 3>(Component)>;
  template <class Fields>
  [[nodiscard]] static auto field_of(Fields& fields) {
    return [&fields](Component c) { return fields.field(c); };
  }
  void require(Component c) const;
  void require_editable() const;
  template <class T>
  [[nodiscard]] View<T, 3> cut(View<T, 3> whole, Part part) const {
    if (part == Part::padded) return whole;
    for (const Axis axis : all_axes) {
      whole.data += grid().low(axis) * whole.stride[dimension(axis)];
      whole.extent[dimension(axis)] = grid().cells(axis);
    }
    return whole;
  }

  const Grid* grid_;
  const GridPart* part_ = nullptr;
  std::variant<Of<float>, Of<double>> field_;
  std::function<State()> state_{};
  bool edited_ = false;
};

/// Who looks at a run.
struct Watch {
  /// Called before each step of the survey and behind the last one.
  std::function<void(Index step, LiveFields& fields)> look{};
  /// The energy before steps 0, energy_every, 2 energy_every, ..., when the first step of the propagator is through.
  std::function<void(Index step, const FieldEnergy& energy)> energy{};
  Index energy_every = 1;
  /// In a gradient: called when all steps of the survey from `step` on have been taken back, step falling to 0. The
  /// fields are those of BackPropagator::field(); gradient() is the part of the medium's that these steps make.
  std::function<void(Index step, LiveFields& adjoint, const std::function<ComponentChange()>& gradient)> look_back{};
};

}  // namespace sonde::maxwell
