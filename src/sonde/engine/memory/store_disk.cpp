// SPDX-License-Identifier: Apache-2.0
// Slots in a file, for a GPU: a thread of its own writes and reads them through two buffers, while the caller computes.
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/memory/scratch_file.h"
#include "sonde/engine/memory/store_slots.h"

namespace sonde {
namespace {

constexpr Index none = -1;

class SlotsOnDisk : public Store::Slots {
 public:
  SlotsOnDisk(Device device, Index count, const SlotFormat& format, const std::string& folder)
      : format_(format),
        file_(folder, static_cast<std::uint64_t>(count) * format.stride_bytes),
        buffers_{Buffer(device, format), Buffer(device, format)},
        written_(static_cast<std::size_t>(count), false) {
    stage_ = Array(device, Shape{static_cast<Index>(format.stride_bytes)}, DType::u8);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  void put(Index slot, const void* elements, Stream& stream) override {
    const std::lock_guard turn(turn_);
    Buffer& buffer = buffer_for(slot);
    store(stream, elements, buffer.block.data());
    buffer.slot = slot;
    written_[static_cast<std::size_t>(slot)] = true;
    queue(buffer, Job::write);
  }

  void get(Index slot, void* elements, Stream& stream) override {
    const std::lock_guard turn(turn_);
    Buffer& buffer = buffer_for(slot);
    if (buffer.slot != slot) {
      buffer.slot = slot;
      queue(buffer, Job::read);
    }
    // Slots are mostly read in order, forwards or backwards: the next one comes while this one is used.
    const Index next = slot + (slot - last_read_);
    const bool in_order = slot - last_read_ == 1 || slot - last_read_ == -1;
    last_read_ = slot;
    wait_for(buffer);
    if (in_order && next >= 0 && next < static_cast<Index>(written_.size()) && written_[static_cast<std::size_t>(next)])
      read_ahead(other_than(buffer), next);
    load(stream, buffer.block.data(), elements);
  }

 private:
  enum class Job { nothing, write, read };
  struct Buffer {
    Buffer(Device device, const SlotFormat& format) : block(device, format.stride_bytes) {}
    PinnedBlock block;
    Index slot = none;       ///< whose bytes it has, or will have when its job is done
    Job job = Job::nothing;  ///< queued or under way; guarded by mutex_
  };

  /// On a GPU the copy ends before the call returns; what overlaps is the disk.
  void store(Stream& stream, const void* elements, void* stored) {
    format_.encode(stream, elements, stage_.data());
    stream.copy(stored, stage_.data(), format_.bytes());
    stream.synchronise();
  }
  void load(Stream& stream, const void* stored, void* elements) {
    stream.copy(stage_.data(), stored, format_.bytes());
    format_.decode(stream, stage_.data(), elements);
    stream.synchronise();
  }

  Buffer& other_than(const Buffer& buffer) { return &buffer == &buffers_[0] ? buffers_[1] : buffers_[0]; }

  /// The buffer that has the slot, else the one not used last; free of jobs.
  Buffer& buffer_for(Index slot) {
    Buffer& buffer = buffers_[0].slot == slot   ? buffers_[0]
                     : buffers_[1].slot == slot ? buffers_[1]
                                                : other_than(*last_used_);
    last_used_ = &buffer;
    wait_for(buffer);
    return buffer;
  }

  /// Until the buffer's job is done; what went wrong on the thread meanwhile is thrown here.
  void wait_for(Buffer& buffer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return buffer.job == Job::nothing || failure_; });
    if (failure_) std::rethrow_exception(failure_);
  }

  void queue(Buffer& buffer, Job job) {
    const std::lock_guard lock(mutex_);
    buffer.job = job;
    queue_.push_back(&buffer);
    changed_.notify_all();
  }

  void read_ahead(Buffer& buffer, Index slot) {
    if (buffer.slot == slot) return;
    {
      const std::lock_guard lock(mutex_);
      if (buffer.job != Job::nothing) return;
    }
    buffer.slot = slot;
    queue(buffer, Job::read);
  }

  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !queue_.empty(); })) {
      Buffer& buffer = *queue_.front();
      queue_.pop_front();
      const Job job = buffer.job;
      lock.unlock();
      std::exception_ptr failure;
      try {
        const auto offset = static_cast<std::uint64_t>(buffer.slot) * format_.stride_bytes;
        if (job == Job::write)
          file_.write_at(offset, buffer.block.data(), format_.bytes());
        else
          file_.read_at(offset, buffer.block.data(), format_.bytes());
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      buffer.job = Job::nothing;
      if (failure) failure_ = failure;
      changed_.notify_all();
    }
  }

  SlotFormat format_;
  ScratchFile file_;
  std::array<Buffer, 2> buffers_;
  Buffer* last_used_ = &buffers_[1];
  Array stage_;  // on the device
  std::vector<bool> written_;
  Index last_read_ = none - 1;  // next to no slot
  std::mutex turn_;             // one caller at a time

  std::mutex mutex_;  // between the caller and the thread: jobs, queue, failure
  std::condition_variable_any changed_;
  std::deque<Buffer*> queue_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace

std::unique_ptr<Store::Slots> slots_on_disk(Device device, Index count, const SlotFormat& format,
                                            const std::string& folder) {
  return std::make_unique<SlotsOnDisk>(device, count, format, folder);
}

}  // namespace sonde
