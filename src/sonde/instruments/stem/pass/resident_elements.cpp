// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/resident_elements.h"

#include <algorithm>

#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem {
namespace {

/// Slots [begin, end) become consecutive positions of all planes.
template <class T>
void place_slots(const std::byte* slots, Index pixels, Index begin, Index end, Array& planes, Index first_position) {
  place_frames<T, T>(View<const T, 2>(reinterpret_cast<const T*>(slots) + begin * pixels, end - begin, pixels),
                     planes.view<T, 2>(), first_position);
}

}  // namespace

/// Frames of one block of positions on their way to the planes, and what was clipped.
struct ResidentElements::Block final : Operation::State {
  std::vector<std::byte> slots;  // resident frames by their place in the block
  std::uint64_t filled = 0;      // one bit per slot
  Index first_position = 0;
  std::uint64_t clipped = 0;
  LedgerSum clipped_counts;

  void flush(DType out, Index pixels, Array& planes) {
    for (Index slot = 0; slot < block_positions;) {
      Index end = slot;
      while (end < block_positions && (filled >> end & 1) != 0) ++end;
      if (end > slot) {
        const auto place = [&](auto element) {
          place_slots<decltype(element)>(slots.data(), pixels, slot, end, planes, first_position + slot);
        };
        out == DType::u8    ? place(std::uint8_t{})
        : out == DType::u16 ? place(std::uint16_t{})
        : out == DType::u32 ? place(std::uint32_t{})
                            : place(float{});
      }
      slot = end + 1;
    }
    filled = 0;
  }
};

ResidentElements::ResidentElements(const ResidentSettings& settings, Array& destination)
    : settings_(settings), destination_(destination) {}

Abilities ResidentElements::abilities(const PassShape& shape) const {
  if (settings_.destination == Destination::planes && shape.scan.only)
    throw Error(ErrorKind::internal, "planes were asked of a list of positions");
  Abilities abilities;
  if (settings_.destination != Destination::none) abilities.copy = settings_.out;
  abilities.lists = settings_.destination == Destination::none;
  abilities.state_bytes = slots_bytes(shape);
  return abilities;
}

std::size_t ResidentElements::slots_bytes(const PassShape& shape) const {
  if (settings_.destination != Destination::planes) return 0;
  return static_cast<std::size_t>(shape.detector.out_pixels() * block_positions) * size_bytes(settings_.out);
}

void ResidentElements::start(const PassShape& shape) {
  frame_bytes_ = static_cast<std::size_t>(shape.detector.out_pixels()) * size_bytes(settings_.out);
  overflow = false;
  overflowed_ = false;
  clipped = 0;
  clipped_counts = {};
}

std::unique_ptr<Operation::State> ResidentElements::make_state(const PassShape& shape) const {
  auto block = std::make_unique<Block>();
  block->slots.resize(slots_bytes(shape));
  return block;
}

/// The frame itself, or its slot in the block.
void* ResidentElements::place_of(Index position, Block& block) const {
  if (settings_.destination == Destination::frames)
    return static_cast<std::byte*>(destination_.data()) + static_cast<std::size_t>(position) * frame_bytes_;
  const Index slot = position % block_positions;
  block.first_position = position - slot;
  block.filled |= std::uint64_t{1} << slot;
  return block.slots.data() + static_cast<std::size_t>(slot) * frame_bytes_;
}

void ResidentElements::place_copies(std::span<const Index> positions, State* state, std::span<void*> places) {
  const bool usable = !overflowed_.load(std::memory_order_relaxed);
  for (std::size_t k = 0; k < positions.size(); ++k)
    places[k] = usable ? place_of(positions[k], static_cast<Block&>(*state)) : nullptr;
}

/// Counts what does not fit, and finishes the copies.
template <class T>
void ResidentElements::take_frames(const Tile& tile, Block& block) {
  const Index n = tile.shape->detector.out_pixels();
  const bool whole = settings_.out != DType::f32;
  const double most_held = whole ? static_cast<double>(max_value(settings_.out)) : 0;
  const T* frame = static_cast<const T*>(tile.frames);
  for (std::size_t k = 0; k < tile.positions.size(); ++k, frame += n) {
    if (whole && tile.largest[k] > most_held) {
      if (settings_.saturate) {
        const T limit = static_cast<T>(max_value(settings_.out));
        block.clipped += static_cast<std::uint64_t>(cpu::frame_kernels<T>().count_above(frame, n, limit));
        cpu::sum_of<T> excess = 0;
        for (Index i = 0; i < n; ++i) excess += frame[i] > limit ? static_cast<T>(frame[i] - limit) : T(0);
        block.clipped_counts += excess;
      } else {
        overflowed_.store(true, std::memory_order_relaxed);
      }
    }
    if (tile.shape->mean_scale.empty() || settings_.destination == Destination::none) continue;
    tile.shape->scale_to_means(place_of(tile.positions[k], block), 1);
  }
  const bool to_planes = settings_.destination == Destination::planes && !overflowed_.load(std::memory_order_relaxed);
  if (tile.ends_block && to_planes) block.flush(settings_.out, n, destination_);
}

/// Counts what would not fit: no element is stored.
void ResidentElements::take_lists(const Tile& tile, Block& block) {
  if (settings_.out == DType::f32) return;
  const auto limit = static_cast<double>(max_value(settings_.out));
  for (std::size_t k = 0; k < tile.positions.size(); ++k) {
    if (tile.largest[k] <= limit) continue;
    if (!settings_.saturate) overflowed_.store(true, std::memory_order_relaxed);
    for (std::size_t i = tile.lists->first[k]; settings_.saturate && i < tile.lists->first[k + 1]; ++i) {
      if (tile.lists->count[i] <= limit) continue;
      ++block.clipped;
      block.clipped_counts += static_cast<std::uint64_t>(tile.lists->count[i]) - max_value(settings_.out);
    }
  }
}

void ResidentElements::take(const Tile& tile, State* state) {
  if (tile.lists != nullptr) return take_lists(tile, static_cast<Block&>(*state));
  visit_elements(tile.shape->elements,
                 [&](auto element) { take_frames<decltype(element)>(tile, static_cast<Block&>(*state)); });
}

void ResidentElements::merge(State& total, State& part) const {
  static_cast<Block&>(total).clipped += static_cast<Block&>(part).clipped;
  static_cast<Block&>(total).clipped_counts += static_cast<Block&>(part).clipped_counts;
}

void ResidentElements::finish(State* total) {
  overflow = overflowed_;
  clipped = static_cast<Block*>(total)->clipped;
  clipped_counts = static_cast<Block*>(total)->clipped_counts;
}

}  // namespace sonde::stem
