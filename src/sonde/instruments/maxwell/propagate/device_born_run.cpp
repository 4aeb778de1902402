// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/device_born_run.h"

#include <algorithm>

#include "sonde/engine/base/interrupt.h"

namespace sonde::maxwell::stepping {

template <class T>
DeviceBornRun<T>::DeviceBornRun(const Problem& problem, const StepChange& by, Device device)
    : background_(problem, device, Sense::forward), moved_(problem, device, Sense::forward) {
  const auto factors = [&](const std::vector<double>& values) {
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return v != 0; });
    return any ? moved_.nodes(values) : Array{};
  };
  for (const Component c : problem.grid.components()) {
    const std::size_t p = place(c);
    Changing made{c, {}, factors(is_electric(c) ? by.difference[p] : by.magnetic[p]), {}};
    if (is_electric(c)) made.sum = factors(by.sum[p]);
    if (made.difference.empty() && made.sum.empty()) continue;
    made.before = moved_.make_field();
    changing_.push_back(std::move(made));
  }
}

template <class T>
device::ChangeStep<T> DeviceBornRun<T>::change_step(bool electric) {
  device::ChangeStep<T> made = moved_.change_step();
  const auto in = [](const Array& array) { return array.empty() ? nullptr : static_cast<const T*>(array.data()); };
  for (Changing& each : changing_)
    if (is_electric(each.component) == electric)
      made.field[made.fields++] = {.to = moved_.field(each.component),
                                   .now = background_.field(each.component),
                                   .before = in(each.before),
                                   .difference = in(each.difference),
                                   .sum = in(each.sum),
                                   .factor = electric ? moved_.factor(each.component) : nullptr,
                                   .component = static_cast<int>(place(each.component))};
  return made;
}

template <class T>
void DeviceBornRun<T>::clear() {
  background_.clear();
  moved_.clear();
}

template <class T>
void DeviceBornRun<T>::set_state(const State& background, const State& perturbation) {
  background_.set_state(background);
  moved_.set_state(perturbation);
}

/// The step of the background, and when that is through the step of the change; the next one waits for it.
template <class T>
void DeviceBornRun<T>::step() {
  Stream &first = background_.stream(), &second = moved_.stream();
  for (Changing& each : changing_)
    first.copy(each.before.data(), background_.field(each.component),
               static_cast<std::size_t>(each.before.count()) * sizeof(T));
  background_.step();
  Event there(first.device()), used(first.device());
  there.record(first);
  there.hold(second);
  moved_.step_with([&] { moved_.add_change(change_step(false)); }, [&] { moved_.add_change(change_step(true)); });
  used.record(second);
  used.hold(first);
}

template <class T>
void DeviceBornRun<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                           std::span<const double> amplitude_changes, std::span<double> record,
                           std::span<double> record_change, const std::function<void(Index)>& before,
                           const std::function<void(Index)>& after) {
  const std::vector<Point> none;
  background_.prepare(shot.sources, amplitudes, record.empty() ? none : shot.receivers, steps);
  moved_.prepare(amplitude_changes.empty() ? none : shot.sources, amplitude_changes, shot.receivers, steps);
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    if (before) before(n);
    step();
    if (after) after(n);
  }
  const std::vector<double> samples = background_.samples(), changes = moved_.samples();
  std::copy(samples.begin(), samples.end(), record.begin());
  std::copy(changes.begin(), changes.end(), record_change.begin());
}

template <class T>
std::size_t DeviceBornRun<T>::bytes() const {
  std::size_t total = background_.bytes() + moved_.bytes();
  for (const Changing& each : changing_)
    for (const Array* array : {&each.before, &each.difference, &each.sum}) total += array->allocated_bytes();
  return total;
}

template class DeviceBornRun<float>;
template class DeviceBornRun<double>;

}  // namespace sonde::maxwell::stepping
