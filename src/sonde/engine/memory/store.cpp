// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/store.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/memory/store_slots.h"

namespace sonde {
namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t page_bytes = 4096;  // slots of a file share no page

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

Array block_of(Device device, std::size_t bytes) { return Array(device, Shape{static_cast<Index>(bytes)}, DType::u8); }

class SlotsInPlace : public Store::Slots {
 public:
  SlotsInPlace(Device device, Index count, const SlotFormat& format)
      : format_(format), block_(block_of(device, static_cast<std::size_t>(count) * format.stride_bytes)) {}
  void put(Index slot, const void* elements, Stream& stream) override {
    format_.encode(stream, elements, address(slot));
  }
  void get(Index slot, void* elements, Stream& stream) override { format_.decode(stream, address(slot), elements); }
  void* in_place(Index slot) override { return format_.encoding == Encoding::raw ? address(slot) : nullptr; }

 private:
  [[nodiscard]] std::byte* address(Index slot) {
    return static_cast<std::byte*>(block_.data()) + static_cast<std::size_t>(slot) * format_.stride_bytes;
  }
  SlotFormat format_;
  Array block_;
};

/// A stage on the device holds a slot while the copy stream moves it; two of them, so that the work of the caller's
/// stream and the copies overlap.
class SlotsOnHost : public Store::Slots {
 public:
  SlotsOnHost(Device device, Index count, const SlotFormat& format)
      : format_(format),
        block_(device, static_cast<std::size_t>(count) * format.stride_bytes),
        copies_(device),
        stages_{Stage(device, format), Stage(device, format)} {}
  ~SlotsOnHost() override { copies_.synchronise(); }

  void put(Index slot, const void* elements, Stream& stream) override {
    const std::lock_guard lock(turn_);
    Stage& stage = next_stage();
    stage.free.hold(stream);
    format_.encode(stream, elements, stage.block.data());
    stage.full.record(stream);
    stage.full.hold(copies_);
    copies_.copy(address(slot), stage.block.data(), format_.bytes());
    stage.free.record(copies_);
  }
  void get(Index slot, void* elements, Stream& stream) override {
    const std::lock_guard lock(turn_);
    Stage& stage = next_stage();
    stage.free.hold(copies_);
    copies_.copy(stage.block.data(), address(slot), format_.bytes());
    stage.full.record(copies_);
    stage.full.hold(stream);
    format_.decode(stream, stage.block.data(), elements);
    stage.free.record(stream);
  }

 private:
  struct Stage {
    Stage(Device device, const SlotFormat& format)
        : block(block_of(device, format.stride_bytes)), full(device), free(device) {}
    Array block;
    Event full, free;
  };
  Stage& next_stage() { return stages_[turns_++ % 2]; }
  [[nodiscard]] std::byte* address(Index slot) const {
    return block_.data() + static_cast<std::size_t>(slot) * format_.stride_bytes;
  }

  SlotFormat format_;
  PinnedBlock block_;
  Stream copies_;
  std::array<Stage, 2> stages_;
  std::size_t turns_ = 0;
  std::mutex turn_;
};

}  // namespace

std::unique_ptr<Store::Slots> slots_in_place(Device device, Index count, const SlotFormat& format) {
  return std::make_unique<SlotsInPlace>(device, count, format);
}

std::unique_ptr<Store::Slots> slots_on_host(Device device, Index count, const SlotFormat& format) {
  return std::make_unique<SlotsOnHost>(device, count, format);
}

namespace {

void check_sizes(const StoreOptions& options) {
  if (options.count < 1 || options.slot_size < 1)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: no {} slots of {} elements", options.what, options.count, options.slot_size));
}

SlotFormat format_of(const StoreOptions& options, std::size_t alignment_bytes) {
  const std::size_t bytes = encoded_bytes(options.encoding, options.dtype, options.slot_size);
  return {options.encoding, options.dtype, options.slot_size, round_up(bytes, alignment_bytes)};
}

/// Of a file: two for a GPU; on the CPU one for every thread that converts.
std::size_t slots_in_flight(Device device, const SlotFormat& format) {
  if (!device.is_cpu()) return 2;
  return format.encoding == Encoding::raw ? 0 : static_cast<std::size_t>(worker_limit());
}

}  // namespace

Store::Store(const TierBudgets& budgets, const Stream& stream, StoreOptions options) : options_(std::move(options)) {
  check_sizes(options_);
  const Device device = stream.device();
  const auto count = static_cast<std::size_t>(options_.count);
  const std::size_t bytes = count * format_of(options_, page_bytes).stride_bytes;
  tier_ = options_.tier ? Choice<Tier>{*options_.tier, "asked for"}
                        : choose_tier(budgets, bytes, options_.what, options_.remedy);
  const SlotFormat format = format_of(options_, tier_.value == Tier::disk ? page_bytes : cache_line_bytes);
  const auto hold = [&](Tier tier, std::size_t held_bytes, const std::string& what) {
    Budget budget = budgets.of(tier);
    held_.push_back(budget.reserve(held_bytes, what, options_.remedy));
  };
  hold(tier_.value, count * format.stride_bytes, options_.what);
  const std::string in_flight = "slots of " + options_.what + " in flight";
  if (tier_.value == Tier::disk) hold(Tier::host, slots_in_flight(device, format) * format.stride_bytes, in_flight);
  if (!device.is_cpu() && tier_.value != Tier::device) hold(Tier::device, 2 * format.stride_bytes, in_flight);

  if (tier_.value == Tier::disk && device.is_cpu())
    slots_ = slots_in_file(options_.count, format, budgets.folder);
  else if (tier_.value == Tier::disk)
    slots_ = slots_on_disk(device, options_.count, format, budgets.folder);
  else if (tier_.value == Tier::host && !device.is_cpu())
    slots_ = slots_on_host(device, options_.count, format);
  else
    slots_ = slots_in_place(device, options_.count, format);
  filled_.assign(count, 0);
}

Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

std::size_t Store::stored_bytes() const {
  return static_cast<std::size_t>(options_.count) *
         encoded_bytes(options_.encoding, options_.dtype, options_.slot_size);
}

const void* Store::checked(Index slot, DType dtype, Index count, bool contiguous, const void* data) const {
  if (slot < 0 || slot >= options_.count || dtype != options_.dtype || count != options_.slot_size || !contiguous)
    throw Error(ErrorKind::internal,
                fmt::format("{}: slot {} with {}{} {} asked for, it has {} slots of {} {}", options_.what, slot, count,
                            contiguous ? "" : " scattered", name(dtype), options_.count, options_.slot_size,
                            name(options_.dtype)));
  return data;
}

void Store::put_elements(Index slot, const void* elements, Stream& stream) {
  slots_->put(slot, elements, stream);
  filled_[static_cast<std::size_t>(slot)] = 1;
}

void Store::get_elements(Index slot, void* elements, Stream& stream) {
  if (filled_[static_cast<std::size_t>(slot)] == 0)
    throw Error(ErrorKind::internal, fmt::format("{}: slot {} is empty", options_.what, slot));
  slots_->get(slot, elements, stream);
}

void Store::will_read(std::span<const Index> slots) { slots_->will_read(slots); }

void* Store::place_of(Index slot) {
  void* place = slots_->in_place(slot);
  if (place != nullptr && !filled(slot)) filled_[static_cast<std::size_t>(slot)] = 1;
  return place;
}

}  // namespace sonde
