// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/graph.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/propagate/sense.h"
#include "sonde/instruments/maxwell/propagate/step_kernels.h"

namespace sonde::maxwell::stepping {

/// Elements in the memory of a device that keep their place as long as they do not become more.
template <class E>
class DeviceList {
 public:
  void assign(Stream& stream, std::span<const E> elements);
  /// Contents unspecified.
  void resize(Device device, std::size_t count);
  [[nodiscard]] E* data() { return block_.empty() ? nullptr : static_cast<E*>(block_.data()); }
  [[nodiscard]] std::size_t bytes() const { return block_.allocated_bytes(); }

 private:
  Array block_;
};

/// What Stepper is on the CPU: the fields of one shot, or of several that step at the same time, in the memory of a
/// GPU, and how a step moves them. Factors are whole arrays, those of H a number where it is the same everywhere. A
/// state is that of the first shot; those of the others are zero.
template <class T>
class DeviceStepper {
 public:
  DeviceStepper(const Problem& problem, Device device, Sense sense, Index shots = 1);
  DeviceStepper(const DeviceStepper&) = delete;
  DeviceStepper& operator=(const DeviceStepper&) = delete;

  [[nodiscard]] Stream& stream() { return stream_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const device::Places& places() const { return places_; }
  [[nodiscard]] T* field(Component c);
  [[nodiscard]] Index elements() const { return places_.field; }  ///< of one shot
  /// cb of a component of E.
  [[nodiscard]] const T* factor(Component c) const { return factor_of(c).at; }
  /// Values on the padded grid in the places of the fields.
  [[nodiscard]] Array nodes(const std::vector<double>& values);
  /// Zero, in the places of the fields.
  [[nodiscard]] Array make_field() const;

  void clear();
  void set_state(const State& state);
  [[nodiscard]] State state();
  [[nodiscard]] std::size_t state_bytes();
  void save(std::span<std::byte> to);
  void restore(std::span<const std::byte> from);
  /// A component in the memory of the host, [z][y][x]: copied at the first call behind a step, until the next one.
  [[nodiscard]] View<T, 3> on_host(Component c);
  /// Takes what on_host() has given as it is now, zero on walls and in conductors.
  void put_back();
  /// Of a transposed run: start_gradient.h.
  [[nodiscard]] State converted(State of, RunEnd end);

  /// The points of a run: those at which amplitudes ([row][point]) are added, by step, and those that are read. Shots
  /// up to the last one that has a point move.
  void prepare(const std::vector<Point>& injected, std::span<const double> amplitudes, const std::vector<Point>& read,
               Index rows);
  /// Of a transposed run: row 0 of the amplitudes of E, before the steps.
  void enter();
  /// One or several whole steps by a graph, if that is faster. Forwards all points are read behind a step; transposed
  /// those of E before it.
  void step();
  void steps_at_once();
  static constexpr Index at_once = 8;
  /// What steps of E leave behind from now on.
  void sample_steps(const device::Sampled<T>& sampled);
  /// How graphs are used from the next prepare() on.
  void replay(Graph::Replay how) {
    replay_ = how;
    one_.reset();
  }
  /// A step with something between H and E, and behind E; by kernels.
  void step_with(const std::function<void()>& between, const std::function<void()>& behind = {});
  /// [row][point], of all rows; waits.
  [[nodiscard]] std::vector<double> samples();

  /// Without fields.
  [[nodiscard]] device::BoxFields<T> in_box(const NodeBox& box) const;
  void sample(const device::BoxFields<T>& box);
  void add_products(const device::BoxFields<T>& box);
  /// Without fields.
  [[nodiscard]] device::ChangeStep<T> change_step();
  void add_change(const device::ChangeStep<T>& step);
  /// Elements of a shot of an array in the places of the fields, [z][y][x] on the padded grid; waits.
  [[nodiscard]] std::vector<double> values_of(const Array& array, Index shot);

  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] static PropagatorBytes bytes_for(const Grid& grid, std::size_t poles, Sense sense, Index shots = 1);
  [[nodiscard]] static std::size_t field_bytes(const Grid& grid);

 private:
  struct LayerArrays {
    Array psi, carried, a, b, k_inverse;
    std::vector<T> host_b;
    device::LayerTerm<T> term;
  };
  struct PoleArrays {
    Array aP, bP, cP, polarisation;
  };

  void make_layers(Component c);
  void make_poles(const Coefficients& step);
  void make_steps();
  void move_shots(Index shots);
  [[nodiscard]] device::LayerStep<T> layer_step(bool electric, Index reach) const;
  [[nodiscard]] Array uploaded(const std::vector<T>& values, Index rows, Index pitch);
  [[nodiscard]] device::Factor<T> factor_of(Component c) const;
  [[nodiscard]] Index place_of(Index node) const;
  void queue_step(Stream& stream, const std::function<void()>& between = {}, const std::function<void()>& behind = {});
  void magnetic(Stream& stream);
  void electric(Stream& stream);
  void inject(bool electric, Stream& stream);
  void carry(bool electric, Stream& stream);
  void read(bool electric, Stream& stream);
  void count(Stream& stream);
  void make_injected(const std::vector<Point>& points, bool electric);
  void make_readings(const std::vector<Point>& points, bool electric);
  template <class Body>
  void for_each_changing(const Body& body);
  template <class AnyState, class Body>
  void for_each_part(AnyState& state, const Body& body);
  [[nodiscard]] std::vector<T> host_copy(const Array& array);

  Sense sense_;
  Problem problem_;
  Stream stream_;
  Index shots_;
  device::Places places_;
  device::Stencil<T> stencil_;
  std::array<Array, 6> fields_{};
  std::array<Array, 3> ca_{}, cb_{}, cq_{}, old_{};
  std::array<T, 3> uniform_cq_{};
  std::array<std::array<LayerArrays, 2>, 6> layers_{};
  std::vector<std::array<PoleArrays, 3>> poles_{};
  DeviceList<device::PoleTerm<T>> pole_terms_;
  std::array<device::CurlStep<T>, 2> curl_{};                  ///< of H, of E
  std::array<device::LayerStep<T>, 2> in_layers_{}, carry_{};  ///< transposed: what is carried into the fields
  device::PoleStep<T> relax_{};

  struct Points {
    DeviceList<Index> injected_first, source, read_first, column;
    DeviceList<T*> to;
    DeviceList<const T*> factor, from;
    DeviceList<T> added;
    DeviceList<double> weights;
    device::Injected<T> injected;
    device::Readings<T> readings;
  };
  std::array<Points, 2> points_{};
  DeviceList<double> amplitudes_, samples_;
  DeviceList<Index> step_;
  DeviceList<device::Sampled<T>> sampled_;
  std::array<std::vector<T>, 6> mirrors_{};
  std::array<bool, 6> mirrored_{};
  Index rows_ = 0, columns_ = 0;
  Graph::Replay replay_ = Graph::Replay::measured;
  std::optional<Graph> one_, many_;
};

extern template class DeviceStepper<float>;
extern template class DeviceStepper<double>;

}  // namespace sonde::maxwell::stepping
