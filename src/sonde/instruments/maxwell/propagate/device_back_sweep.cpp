// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/device_back_sweep.h"

#include "sonde/engine/base/interrupt.h"

namespace sonde::maxwell::stepping {
namespace {

/// [row][receiver]: row 0 enters before anything moves, row i in the step that is taken back as the i-th; the residual
/// of E enters a step later than that of H, because w is complete before it moves.
std::vector<double> entering(const std::vector<Point>& receivers, std::size_t rows, std::span<const double> residual) {
  const std::size_t points = receivers.size();
  std::vector<double> made(rows * points);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t r = 0; r < points; ++r) {
      const std::size_t taken_back = i + (is_electric(receivers[r].component) ? 1 : 0);
      if (taken_back >= 1 && taken_back < rows) made[i * points + r] = residual[(rows - 1 - taken_back) * points + r];
    }
  return made;
}

}  // namespace

template <class T>
void DeviceBackSweep<T>::make_sums(const Wanted& wanted) {
  const auto make = [&](Array& array) {
    if (array.empty()) array = fields_.make_field();
  };
  for (const Component c : fields_.problem().grid.components()) {
    if (is_electric(c) && wanted.difference) make(difference_[place(c)]);
    if (is_electric(c) && wanted.sum) make(sum_[place(c)]);
    if (is_electric(c) && wanted.difference && wanted.squares) make(difference_squares_[place(c)]);
    if (is_electric(c) && wanted.sum && wanted.squares) make(sum_squares_[place(c)]);
    if (!is_electric(c) && wanted.magnetic) make(magnetic_[place(c)]);
  }
}

/// v of H is -u.
template <class T>
void DeviceBackSweep<T>::add(bool electric, Index n, const KeptFields<T>& kept) {
  const NodeBox box = kept.box();
  device::BoxFields<T> made = fields_.in_box(box);
  made.shot = kept.elements_of_shot();
  const auto in = [](Array& array) { return array.empty() ? nullptr : static_cast<T*>(array.data()); };
  for (const Component c : fields_.problem().grid.components()) {
    if (is_electric(c) != electric) continue;
    const typename KeptFields<T>::Row all = kept.row(n, c, box.first[0], box.first[1]);
    made.field[made.fields++] = {.field = fields_.field(c),
                                 .before = all.before,
                                 .after = all.after,
                                 .difference = all.difference,
                                 .sum = all.sum,
                                 .to_difference = in(electric ? difference_[place(c)] : magnetic_[place(c)]),
                                 .to_sum = electric ? in(sum_[place(c)]) : nullptr,
                                 .to_difference_squares = electric ? in(difference_squares_[place(c)]) : nullptr,
                                 .to_sum_squares = electric ? in(sum_squares_[place(c)]) : nullptr,
                                 .sign = electric ? T(1) : T(-1)};
  }
  fields_.add_products(made);
}

template <class T>
void DeviceBackSweep<T>::take_back(KeptFields<T>* kept, const Wanted& wanted, Index n) {
  if (!wanted.any() || !kept->begin_step(n)) return fields_.step();
  Event there(fields_.stream().device()), used(fields_.stream().device());
  there.record(*kept->stream());
  there.hold(fields_.stream());
  if (wanted.electric()) add(true, n, *kept);
  if (wanted.magnetic)
    fields_.step_with([&] { add(false, n, *kept); });
  else
    fields_.step();
  used.record(fields_.stream());
  used.hold(*kept->stream());
}

template <class T>
void DeviceBackSweep<T>::run(const Acquisition& shot, Index steps, std::span<const double> residual,
                             KeptFields<T>* kept, const Wanted& wanted, std::span<double> sources, const State* end,
                             const std::function<void(Index step)>& after) {
  make_sums(wanted);
  fields_.clear();
  if (end != nullptr) fields_.set_state(fields_.converted(*end, RunEnd::last));
  const std::size_t count = shot.sources.size(), rows = static_cast<std::size_t>(steps) + 1;
  fields_.prepare(shot.receivers, entering(shot.receivers, rows, residual), shot.sources, steps + 1);
  fields_.enter();
  for (Index n = steps - 1; n >= 0; --n) {
    check_interrupt();
    take_back(kept, wanted, n);
    if (after) after(n);
  }
  const std::vector<double> samples = fields_.samples();
  for (std::size_t n = 0; n + 1 < rows; ++n)
    for (std::size_t s = 0; s < count; ++s)
      // Of J: -w, of M: -v = u.
      sources[n * count + s] = (is_electric(shot.sources[s].component) ? -1 : 1) * samples[(rows - 1 - n) * count + s] /
                               fields_.problem().grid.cell_volume();
}

template <class T>
SweepSums DeviceBackSweep<T>::sums(Index shot) {
  SweepSums made;
  const auto bring = [&](const Array& array) {
    return array.empty() ? std::vector<double>{} : fields_.values_of(array, shot);
  };
  for (std::size_t c = 0; c < 3; ++c) {
    made.difference[c] = bring(difference_[c]);
    made.sum[c] = bring(sum_[c]);
    made.magnetic[c] = bring(magnetic_[c]);
    made.difference_squares[c] = bring(difference_squares_[c]);
    made.sum_squares[c] = bring(sum_squares_[c]);
  }
  return made;
}

template <class T>
void DeviceBackSweep<T>::clear_sums() {
  for (auto* arrays : {&difference_, &sum_, &magnetic_, &difference_squares_, &sum_squares_})
    for (Array& array : *arrays)
      if (!array.empty()) fields_.stream().fill_zero(array.data(), array.allocated_bytes());
}

template <class T>
std::size_t DeviceBackSweep<T>::bytes() const {
  std::size_t total = fields_.bytes();
  for (const auto* arrays : {&difference_, &sum_, &magnetic_, &difference_squares_, &sum_squares_})
    for (const Array& array : *arrays) total += array.allocated_bytes();
  return total;
}

template class DeviceBackSweep<float>;
template class DeviceBackSweep<double>;

}  // namespace sonde::maxwell::stepping
