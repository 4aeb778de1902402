// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/tier.h"

namespace sonde {

struct StoreOptions {
  Index count = 0;      ///< slots
  Index slot_size = 0;  ///< elements of each
  DType dtype = DType::f32;
  Encoding encoding = Encoding::raw;
  std::optional<Tier> tier{};                         ///< empty: the nearest that has room
  std::string what = "the store";                     ///< in error messages and among the holders of a budget
  std::string remedy = "raise " + setting("memory");  ///< hint when it does not fit
};

/// Many equal slots of elements (snapshots, frames, exit waves) on one tier: the memory of the stream's device, the
/// host's, or one file without a name. put() and get() are ordered with the stream they are given, and the copies to a
/// slower tier run beside its further work. Costs the encoded bytes of a slot on each side.
///
/// On the CPU threads may put and get different slots at the same time: bodies of parallel_for do. On a GPU calls take
/// turns by themselves, and all streams must be of one device.
class Store {
 public:
  /// Reserves all it holds: slots, and those in flight where copies are needed. Throws Error(budget) when no tier,
  /// or not the wanted one, has room, Error(bad_input) for sizes below 1 and encodings that do not fit the type, and
  /// Error(io) when the file cannot be made.
  Store(const TierBudgets& budgets, const Stream& stream, StoreOptions options);
  Store(Store&&) noexcept;
  ~Store();

  [[nodiscard]] const StoreOptions& options() const { return options_; }
  /// Where the slots lie, and why there.
  [[nodiscard]] const Choice<Tier>& tier() const { return tier_; }
  /// Bytes of all slots as they are stored.
  [[nodiscard]] std::size_t stored_bytes() const;

  /// The elements of a contiguous view of the store's type and slot size, on the stream's device. The view may be
  /// written over by further work on that stream. Throws Error(internal) for another type, size or slot.
  template <class T, int Rank>
  void put(Index slot, View<T, Rank> from, Stream& stream) {
    put_elements(slot, checked(slot, dtype_of<T>, from.count(), from.contiguous(), from.data), stream);
  }
  /// Brings them back as they were stored: rounded when the encoding rounds. The slot must have been put.
  template <class T, int Rank>
  void get(Index slot, View<T, Rank> to, Stream& stream) {
    (void)checked(slot, dtype_of<T>, to.count(), to.contiguous(), to.data);
    get_elements(slot, to.data, stream);
  }
  /// A hint: these slots are asked for next. From a file on the CPU they are read meanwhile; other tiers know by
  /// themselves what comes.
  void will_read(std::span<const Index> slots);
  [[nodiscard]] bool filled(Index slot) const { return filled_[static_cast<std::size_t>(slot)] != 0; }
  /// Where the elements of a slot lie, when they lie as they are in the memory that computes: to be read, and written
  /// over, without a copy. nullptr on slower tiers and for encodings. The slot counts as put from then on. Throws
  /// Error(internal) for another type or slot.
  template <class T>
  [[nodiscard]] T* in_place(Index slot) {
    (void)checked(slot, dtype_of<T>, options_.slot_size, true, nullptr);
    return static_cast<T*>(place_of(slot));
  }

  class Slots;

 private:
  const void* checked(Index slot, DType dtype, Index count, bool contiguous, const void* data) const;
  void put_elements(Index slot, const void* elements, Stream& stream);
  void get_elements(Index slot, void* elements, Stream& stream);
  void* place_of(Index slot);

  StoreOptions options_;
  Choice<Tier> tier_;
  std::vector<Reservation> held_;
  std::unique_ptr<Slots> slots_;      // gone before what was reserved for them
  std::vector<std::uint8_t> filled_;  // by slot; bytes, so that threads may write beside each other
};

}  // namespace sonde
