// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/memory/store.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/trajectory/storage.h"

namespace sonde::maxwell {

/// A run whose samples are taken: of its steps [first, first + count), in absolute numbers.
template <class T>
struct RecordedRun {
  Propagator<T>& fields;
  const Acquisition& shot;
  std::span<const double> amplitudes;  ///< of the whole run, [step][source]
  std::function<void()> stepped{};

  /// Without samples; `record` is that of these steps, or empty, and then nothing is read.
  void advance(Index first, Index count, std::span<double> record, typename Propagator<T>::Beside beside = {}) const;
};

/// Samples of the fields of so many steps in a store. On a GPU they go to its tiers by the queue of the propagator that
/// ran, and come back by it; E of every step is written by the step itself, in the form in which it is stored.
template <class T>
class FieldSamples : public KeptFields<T> {
 public:
  /// Throws what Store() throws.
  FieldSamples(SampleLayout layout, Index most_steps, Tier tier, Encoding encoding, const TierBudgets& budgets,
               Device device = Device::cpu());

  /// Runs these steps and samples them; `record` as for advance().
  void record(const RecordedRun<T>& run, Index first, Index count, std::span<double> record);

  /// The same in parts, for runs that are driven otherwise: fields by rows [x] of a component. On the CPU.
  using Rows = std::function<const T*(Component c, Index k, Index j)>;
  using PoleRows = std::function<const T*(std::size_t pole, Component c, Index k, Index j)>;
  void begin_run(Index first_step);
  /// Not where samples lie in place: then steps need no order.
  void before_step(Index step);
  [[nodiscard]] PlaneHooks hooks(const Rows& fields, const PoleRows& poles = {});
  void after_step();
  void end_run(const Rows& fields, Index last_step);

  [[nodiscard]] NodeBox box() const override { return layout_.box; }
  [[nodiscard]] bool begin_step(Index n) override;
  [[nodiscard]] Index steps_at_once() const override;
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override;
  [[nodiscard]] const T* pole_row(Index n, std::size_t pole, Component c, Index k, Index j) const override {
    return layout_.poles > 0 ? read_at(n) + pole_place(pole, c, k, j) : nullptr;
  }
  [[nodiscard]] Index elements_of_shot() const override { return layout_.elements_of_shot(); }
  [[nodiscard]] Stream* stream() const override { return queue_; }
  /// Writes what was sampled before step n, which is begun, into rows from the first x of the box on.
  using RowsOfBox = std::function<T*(Component c, Index k, Index j)>;
  void paste_rows(bool electric, Index n, const PlaneRows& at, const RowsOfBox& to) const;

 private:
  void record_on_gpu(const RecordedRun<T>& run, Index first, Index count, std::span<double> record);
  [[nodiscard]] typename Propagator<T>::Kept kept_by_steps();
  [[nodiscard]] std::uint16_t* halves_of(Index sample);
  [[nodiscard]] Index stride();
  [[nodiscard]] Index place(std::size_t quantity, Component c, Index k, Index j) const;
  [[nodiscard]] Index pole_place(std::size_t pole, Component c, Index k, Index j) const;
  void copy_poles(const PoleRows& poles, const PlaneRows& at, T* to) const;
  [[nodiscard]] bool is_sampled(Index n) const { return n % layout_.interval == 0; }
  /// Where the sample of a step is written to; nullptr of steps that are not sampled.
  [[nodiscard]] T* written_at(Index n) const;
  [[nodiscard]] const T* read_at(Index n) const { return in_place_ ? place_of(n) : at_; }
  [[nodiscard]] T* place_of(Index n) const {
    return places_[static_cast<std::size_t>(n / layout_.interval - first_sample_)];
  }
  void touch(Index samples);
  void begin_sample(Index sample);
  /// `converted`: it is in 16 bits already, where it has to be.
  void end_sample(bool converted = false);
  void copy_rows(const Rows& fields, bool electric, const PlaneRows& at, T* to) const;
  void change_of_rows(const Rows& fields, bool electric, const PlaneRows& at, T* to);
  [[nodiscard]] const T* loaded(Index sample);
  [[nodiscard]] View<T, 1> piece(Array& buffer, Index index);
  [[nodiscard]] T* before_data() { return static_cast<T*>(before_.data()); }

  SampleLayout layout_;
  std::array<Index, 6> order_{};  ///< of a component among those that are kept
  Index pieces_ = 1, piece_size_ = 0;
  Stream stream_;
  Stream* queue_ = nullptr;  ///< of a propagator on a GPU
  bool near_, halves_;       ///< stored where the work is done; as 16 bits that a GPU makes
  Store store_;
  bool in_place_;                            ///< near, and as it is
  Array converted_{};                        ///< halves that are not near, on their way
  std::vector<T*> places_{};                 ///< of samples in place
  Index first_step_ = 0, first_sample_ = 0;  ///< of this run
  /// Not in place: what is written next, and later the two samples that were read last.
  std::array<Array, 2> buffers_;
  std::array<Index, 2> holds_{-1, -1};
  Array before_;      ///< fields before a step whose difference is kept
  Index sample_ = 0;  ///< that is written
  T* to_ = nullptr;
  const T *at_ = nullptr, *after_ = nullptr;  ///< not in place: samples of the step that is taken back
};

extern template class FieldSamples<float>;
extern template class FieldSamples<double>;
extern template struct RecordedRun<float>;
extern template struct RecordedRun<double>;

}  // namespace sonde::maxwell
