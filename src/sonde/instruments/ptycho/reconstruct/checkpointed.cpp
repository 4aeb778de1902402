// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/checkpointed.h"

#include <complex>
#include <span>
#include <vector>

#include "sonde/engine/device/stream.h"

namespace sonde::ptycho {
namespace {

Shape all_slots(const EngineMemory& piece) {
  const Index frames = piece.array != nullptr ? piece.array->shape()[0] : piece.store->options().count;
  return Shape{frames, piece.slot[0], piece.slot[1], piece.slot[2]};
}
DType slot_type(const EngineMemory& piece) {
  return piece.array != nullptr ? piece.array->dtype() : piece.store->options().dtype;
}

/// Slots of T, one at a time in memory: those of a store, or of an array on any device.
template <class T>
class OneSlot {
 public:
  explicit OneSlot(const EngineMemory& piece)
      : piece_(&piece),
        stream_(piece.array != nullptr ? piece.array->device() : Device::cpu()),
        elements_(static_cast<std::size_t>(piece.slot.count())) {}

  [[nodiscard]] std::vector<T>& elements() { return elements_; }
  /// False for a frame that takes no part.
  [[nodiscard]] bool filled(Index slot) const { return piece_->array != nullptr || piece_->store->filled(slot); }
  void read(Index slot) {
    if (piece_->array != nullptr)
      stream_.copy(elements_.data(), place(slot), elements_.size() * sizeof(T));
    else
      piece_->store->get(slot, view(), stream_);
    stream_.synchronise();
  }
  void write(Index slot) {
    if (piece_->array != nullptr)
      stream_.copy(place(slot), elements_.data(), elements_.size() * sizeof(T));
    else
      piece_->store->put(slot, view(), stream_);
    stream_.synchronise();
  }

 private:
  [[nodiscard]] T* place(Index slot) const {
    return static_cast<T*>(piece_->array->data()) + slot * piece_->slot.count();
  }
  [[nodiscard]] View<T, 1> view() { return View<T, 1>(elements_.data(), piece_->slot.count()); }

  const EngineMemory* piece_;
  Stream stream_;
  std::vector<T> elements_;
};

template <class T>
void save_slots_of(CheckpointWriter& checkpoint, const std::string& name, const EngineMemory& piece) {
  const std::string path = "/state/" + name;
  checkpoint.file().declare(
      path, {.shape = all_slots(piece), .dtype = slot_type(piece), .chunk = {}, .filters = {}, .fill = {}});
  OneSlot<T> one(piece);
  for (Index i = 0; i < all_slots(piece)[0]; ++i) {
    if (!one.filled(i)) continue;
    one.read(i);
    checkpoint.file().write_box(path, Shape{i, 0, 0, 0}, Shape{1, piece.slot[0], piece.slot[1], piece.slot[2]},
                                dtype_of<T>, one.elements().data());
  }
}

template <class T>
void restore_slots_of(const Hdf5Dataset& dataset, const EngineMemory& piece) {
  OneSlot<T> one(piece);
  for (Index i = 0; i < all_slots(piece)[0]; ++i) {
    if (!one.filled(i)) continue;
    dataset.read_into(Shape{i, 0, 0, 0}, Shape{1, piece.slot[0], piece.slot[1], piece.slot[2]},
                      std::as_writable_bytes(std::span(one.elements())));
    one.write(i);
  }
}

}  // namespace

Array array_of(const std::vector<Point>& points) {
  Array array(Device::cpu(), Shape{static_cast<Index>(points.size()), 2}, DType::f64);
  const auto to = array.view<double, 2>();
  for (Index i = 0; i < to.extent[0]; ++i) {
    to(i, 0) = points[static_cast<std::size_t>(i)].row;
    to(i, 1) = points[static_cast<std::size_t>(i)].col;
  }
  return array;
}

std::vector<Point> points_of(const Array& array) {
  std::vector<Point> points;
  const auto from = array.view<double, 2>();
  for (Index i = 0; i < from.extent[0]; ++i) points.push_back({from(i, 0), from(i, 1)});
  return points;
}

void save_state(CheckpointWriter& checkpoint, const std::string& prefix, const State& state) {
  checkpoint.array(prefix + "object", state.object);
  if (!state.phase.empty()) checkpoint.array(prefix + "phase", state.phase);
  checkpoint.array(prefix + "probe", state.probe);
  if (state.components() > 0) {
    checkpoint.array(prefix + "opr_modes", state.opr_modes);
    checkpoint.array(prefix + "opr_weights", state.opr_weights);
  }
  checkpoint.array(prefix + "positions", array_of(state.positions));
}

void restore_state(const CheckpointReader& checkpoint, const std::string& prefix, State& state) {
  state.object = checkpoint.array(prefix + "object");
  state.type = checkpoint.has(prefix + "phase") ? ObjectType::potential : ObjectType::complex;
  if (state.type == ObjectType::potential)
    state.phase = checkpoint.array(prefix + "phase", state.phase.dtype(), state.phase.shape());
  state.probe = checkpoint.array(prefix + "probe");
  if (checkpoint.has(prefix + "opr_modes")) {
    state.opr_modes = checkpoint.array(prefix + "opr_modes");
    state.opr_weights = checkpoint.array(prefix + "opr_weights");
  }
  state.positions = points_of(checkpoint.array(prefix + "positions"));
  state.placements = place_all(state.positions, state.window());
}

void save_slots(CheckpointWriter& checkpoint, const std::string& name, const EngineMemory& piece) {
  if (slot_type(piece) == DType::c64)
    save_slots_of<complex64>(checkpoint, name, piece);
  else
    save_slots_of<complex128>(checkpoint, name, piece);
}

void restore_slots(const CheckpointReader& checkpoint, const std::string& name, const EngineMemory& piece) {
  const Hdf5Dataset dataset = checkpoint.dataset(name, slot_type(piece), all_slots(piece));
  if (slot_type(piece) == DType::c64)
    restore_slots_of<complex64>(dataset, piece);
  else
    restore_slots_of<complex128>(dataset, piece);
}

}  // namespace sonde::ptycho
