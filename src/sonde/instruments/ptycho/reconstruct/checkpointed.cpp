// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/checkpointed.h"

#include <complex>
#include <cstring>
#include <span>
#include <vector>

#include "sonde/engine/device/stream.h"
#include "sonde/instruments/ptycho/reconstruct/parts.h"

namespace sonde::ptycho {
namespace {

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

/// Of the whole scan.
Shape all_slots(const EngineMemory& piece, const Share* share) {
  const Index frames = share != nullptr         ? static_cast<Index>(share->placements().size())
                       : piece.array != nullptr ? piece.array->shape()[0]
                                                : piece.store->options().count;
  return Shape{frames, piece.slot[0], piece.slot[1], piece.slot[2]};
}
/// The slot of a frame of the scan; -1: another process has it.
Index own_slot(Index frame, const Share* share) { return share != nullptr ? share->own_number(frame) : frame; }

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
void save_slots(CheckpointWriter* checkpoint, const std::string& name, const EngineMemory& piece, const Share* share) {
  const std::string path = "/state/" + name;
  const Shape all = all_slots(piece, share), slot{1, piece.slot[0], piece.slot[1], piece.slot[2]};
  if (checkpoint != nullptr)
    checkpoint->file().declare(path, {.shape = all, .dtype = slot_type(piece), .chunk = {}, .filters = {}, .fill = {}});
  OneSlot<T> one(piece);
  for (Index frame = 0; frame < all[0]; ++frame) {
    const Index own = own_slot(frame, share);
    std::span<const T> found;
    if (own >= 0 && one.filled(own)) {
      one.read(own);
      found = one.elements();
    }
    std::vector<T> sent;  // by whoever has the frame
    if (share != nullptr) found = sent = share->ranks().gather(found);
    if (checkpoint != nullptr && !found.empty())
      checkpoint->file().write_box(path, Shape{frame, 0, 0, 0}, slot, dtype_of<T>, found.data());
  }
}

template <class T>
void restore_slots(const CheckpointReader& checkpoint, const std::string& name, const EngineMemory& piece,
                   const Share* share) {
  const Shape all = all_slots(piece, share);
  const Hdf5Dataset dataset = checkpoint.dataset(name, slot_type(piece), all);
  OneSlot<T> one(piece);
  for (Index frame = 0; frame < all[0]; ++frame) {
    const Index own = own_slot(frame, share);
    if (own < 0 || !one.filled(own)) continue;
    dataset.read_into(Shape{frame, 0, 0, 0}, Shape{1, piece.slot[0], piece.slot[1], piece.slot[2]},
                      std::as_writable_bytes(std::span(one.elements())));
    one.write(own);
  }
}

void write_state(CheckpointWriter& checkpoint, const std::string& prefix, const State& state) {
  checkpoint.array(prefix + "object", state.object);
  if (!state.phase.empty()) checkpoint.array(prefix + "phase", state.phase);
  checkpoint.array(prefix + "probe", state.probe);
  if (state.components() > 0) {
    checkpoint.array(prefix + "opr_modes", state.opr_modes);
    checkpoint.array(prefix + "opr_weights", state.opr_weights);
  }
  checkpoint.array(prefix + "positions", array_of(state.positions));
}

}  // namespace

void save_state(CheckpointWriter* checkpoint, const std::string& prefix, const State& state, const Share* share) {
  if (share == nullptr) return write_state(*checkpoint, prefix, state);
  const State whole = assembled_state(*share, state);
  if (checkpoint != nullptr) write_state(*checkpoint, prefix, whole);
}

void restore_state(const CheckpointReader& checkpoint, const std::string& prefix, State& state, const Share* share) {
  state.object = checkpoint.array(prefix + "object");
  state.type = checkpoint.has(prefix + "phase") ? ObjectType::potential : ObjectType::complex;
  if (state.type == ObjectType::potential)
    state.phase = checkpoint.array(prefix + "phase", state.object.dtype() == DType::c64 ? DType::f32 : DType::f64,
                                   state.object.shape());
  state.probe = checkpoint.array(prefix + "probe");
  if (checkpoint.has(prefix + "opr_modes")) {
    state.opr_modes = checkpoint.array(prefix + "opr_modes");
    state.opr_weights = checkpoint.array(prefix + "opr_weights");
  }
  state.positions = points_of(checkpoint.array(prefix + "positions"));
  if (share != nullptr)
    cut_state(*share, state);
  else
    state.placements = place_all(state.positions, state.window());
}

void save_places(CheckpointWriter* checkpoint, const std::string& name, const std::vector<Point>& places,
                 const Share* share) {
  const std::vector<Point> all = share != nullptr ? places_of_scan(*share, places) : places;
  if (checkpoint != nullptr) checkpoint->array(name, array_of(all));
}

std::vector<Point> restored_places(const CheckpointReader& checkpoint, const std::string& name, const Share* share) {
  std::vector<Point> all = points_of(checkpoint.array(name));
  return share != nullptr ? own_places(*share, all) : all;
}

void save_memory(CheckpointWriter* checkpoint, const std::string& name, const EngineMemory& piece, const Share* share) {
  if (piece.in_slots())
    return slot_type(piece) == DType::c64 ? save_slots<complex64>(checkpoint, name, piece, share)
                                          : save_slots<complex128>(checkpoint, name, piece, share);
  if (share != nullptr && piece.on_object) {
    const Array whole = whole_of(*share, *piece.array, 0);
    if (checkpoint != nullptr) checkpoint->array(name, whole);
  } else if (checkpoint != nullptr) {
    checkpoint->array(name, *piece.array);
  }
}

void restore_memory(const CheckpointReader& checkpoint, const std::string& name, const EngineMemory& piece,
                    const Share* share) {
  if (piece.in_slots())
    return slot_type(piece) == DType::c64 ? restore_slots<complex64>(checkpoint, name, piece, share)
                                          : restore_slots<complex128>(checkpoint, name, piece, share);
  const DType dtype = piece.array->dtype();
  const Shape& shape = piece.array->shape();
  const Array read =
      share != nullptr && piece.on_object
          ? own_part(*share, checkpoint.array(name, dtype, Shape{shape[0], share->rows(), share->cols()}))
          : checkpoint.array(name, dtype, shape);
  std::memcpy(piece.array->data(), read.data(), read.allocated_bytes());
}

}  // namespace sonde::ptycho
