// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/device_stepper.h"

namespace sonde::maxwell::stepping {

/// What BackPropagator does on a GPU.
template <class T>
class DeviceBackSweep {
 public:
  DeviceBackSweep(const Problem& problem, Device device, Index shots)
      : fields_(problem, device, Sense::transposed, shots) {}

  void run(const Acquisition& shot, Index steps, std::span<const double> residual, KeptFields<T>* kept,
           const Wanted& wanted, std::span<double> sources, const State* end,
           const std::function<void(Index step)>& after);
  [[nodiscard]] SweepSums sums(Index shot);
  void clear_sums();
  [[nodiscard]] State start() { return fields_.converted(fields_.state(), RunEnd::first); }
  [[nodiscard]] View<T, 3> on_host(Component c) { return fields_.on_host(c); }
  [[nodiscard]] const Grid& grid() const { return fields_.problem().grid; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void make_sums(const Wanted& wanted);
  void add(bool electric, Index n, const KeptFields<T>& kept);
  void take_back(KeptFields<T>* kept, const Wanted& wanted, Index n);

  DeviceStepper<T> fields_;
  /// In the places of the fields; empty until they are wanted.
  std::array<Array, 3> difference_{}, sum_{}, magnetic_{}, difference_squares_{}, sum_squares_{};
};

extern template class DeviceBackSweep<float>;
extern template class DeviceBackSweep<double>;

}  // namespace sonde::maxwell::stepping
