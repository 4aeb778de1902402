// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/device/stream.h"
#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

/// Nodes [first, last) along z, y, x of the padded grid.
struct NodeBox {
  Triple first{}, last{};

  friend bool operator==(const NodeBox&, const NodeBox&) = default;
  [[nodiscard]] Index extent(std::size_t axis) const { return last[axis] - first[axis]; }
  [[nodiscard]] Index count() const { return extent(0) * extent(1) * extent(2); }
  [[nodiscard]] bool has_row(Index k, Index j) const {
    return k >= first[0] && k < last[0] && j >= first[1] && j < last[1];
  }
};

/// The fields of a run, as the sweep backwards over its steps asks for them: E, and H where it was kept. Of a run on a
/// GPU they come to its memory, and the rows of a component lie one after the other: its first row is the whole box.
template <class T>
class KeptFields {
 public:
  virtual ~KeptFields() = default;

  /// Where fields are kept; nothing outside gets a gradient.
  [[nodiscard]] virtual NodeBox box() const = 0;
  /// Step n is taken back next; from one thread, n falling. False: it adds nothing to the sums.
  [[nodiscard]] virtual bool begin_step(Index n) = 0;
  /// How many steps may be begun before the first of them is done with.
  [[nodiscard]] virtual Index steps_at_once() const { return 1; }
  /// A row of a component in a step that is begun, from the box's first x on: the field before and after it, or the
  /// difference and the sum of these, those of them that are kept. Threads ask at the same time.
  struct Row {
    const T *before = nullptr, *after = nullptr, *difference = nullptr, *sum = nullptr;
  };
  [[nodiscard]] virtual Row row(Index n, Component c, Index k, Index j) const = 0;
  /// The polarisation of a pole before that step, where it was kept; on the CPU.
  [[nodiscard]] virtual const T* pole_row(Index /*n*/, std::size_t, Component, Index, Index) const { return nullptr; }
  /// On a GPU: from a row of one shot to that of the next, of those that run at the same time.
  [[nodiscard]] virtual Index elements_of_shot() const { return 0; }
  /// On a GPU the queue by which they come; nullptr on the CPU.
  [[nodiscard]] virtual Stream* stream() const { return nullptr; }
};

}  // namespace sonde::maxwell
