// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/device_stepper.h"

namespace sonde::maxwell::stepping {

/// What BornPropagator does on a GPU.
template <class T>
class DeviceBornRun {
 public:
  DeviceBornRun(const Problem& problem, const StepChange& by, Device device);

  void clear();
  void set_state(const State& background, const State& perturbation);
  void run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
           std::span<const double> amplitude_changes, std::span<double> record, std::span<double> record_change,
           const std::function<void(Index)>& before, const std::function<void(Index)>& after);
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Of what changes: background_'s field before its step, and the factors of the change.
  struct Changing {
    Component component;
    Array before, difference, sum;
  };
  [[nodiscard]] device::ChangeStep<T> change_step(bool electric);
  void step();

  DeviceStepper<T> background_, moved_;
  std::vector<Changing> changing_;
};

extern template class DeviceBornRun<float>;
extern template class DeviceBornRun<double>;

}  // namespace sonde::maxwell::stepping
