// SPDX-License-Identifier: Apache-2.0
// Slots in a file, for the CPU. Reads and writes go through the page cache of the system: it writes in the background
// and reads ahead what will_read() names, so that threads only copy, each for itself, and the memory that is spent on
// it is given back as soon as somebody needs it.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/engine/memory/store_slots.h"

namespace sonde {
namespace {

class SlotsInFile : public Store::Slots {
 public:
  SlotsInFile(Index count, const SlotFormat& format, const std::string& folder)
      : format_(format), file_(folder, static_cast<std::uint64_t>(count) * format.stride_bytes) {}

  void put(Index slot, const void* elements, Stream& stream) override {
    if (format_.encoding == Encoding::raw) return file_.write_at(offset(slot), elements, format_.bytes());
    const Buffer buffer(*this);
    format_.encode(stream, elements, buffer.data());
    file_.write_at(offset(slot), buffer.data(), format_.bytes());
  }
  void get(Index slot, void* elements, Stream& stream) override {
    if (format_.encoding == Encoding::raw) return file_.read_at(offset(slot), elements, format_.bytes());
    const Buffer buffer(*this);
    file_.read_at(offset(slot), buffer.data(), format_.bytes());
    format_.decode(stream, buffer.data(), elements);
  }
  void will_read(std::span<const Index> slots) override {
    for (std::size_t first = 0; first < slots.size();) {
      std::size_t last = first + 1;  // neighbours in the file are one request
      while (last < slots.size() && slots[last] == slots[last - 1] + 1) ++last;
      file_.will_read(offset(slots[first]), (last - first) * format_.stride_bytes);
      first = last;
    }
  }

 private:
  /// Encoded bytes of one slot, for as long as a call lasts: one of those that other calls are done with, or a new one.
  class Buffer {
   public:
    explicit Buffer(SlotsInFile& slots) : slots_(&slots) {
      const std::lock_guard lock(slots.mutex_);
      if (slots.idle_.empty()) {
        block_ = Array(Device::cpu(), Shape{static_cast<Index>(slots.format_.stride_bytes)}, DType::u8);
      } else {
        block_ = std::move(slots.idle_.back());
        slots.idle_.pop_back();
      }
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
      const std::lock_guard lock(slots_->mutex_);
      slots_->idle_.push_back(std::move(block_));
    }
    [[nodiscard]] void* data() const { return const_cast<void*>(block_.data()); }

   private:
    SlotsInFile* slots_;
    Array block_;
  };

  [[nodiscard]] std::uint64_t offset(Index slot) const {
    return static_cast<std::uint64_t>(slot) * format_.stride_bytes;
  }

  SlotFormat format_;
  ScratchFile file_;
  std::mutex mutex_;
  std::vector<Array> idle_;
};

}  // namespace

std::unique_ptr<Store::Slots> slots_in_file(Index count, const SlotFormat& format, const std::string& folder) {
  return std::make_unique<SlotsInFile>(count, format, folder);
}

}  // namespace sonde
