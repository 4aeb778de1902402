// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/frame_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// What the threads of the pass and the user of the queue share.
struct FrameQueue::Shared {
  explicit Shared(std::size_t blocks) : most(blocks) {}

  void push(Block block) {
    const std::lock_guard lock(mutex);
    full.push_back(std::move(block));
    changed.notify_all();
  }
  /// Throws Error(interrupted) when the queue is being destroyed.
  void wait_for_room() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return full.size() < most || stopping; });
    if (stopping) throw Error(ErrorKind::interrupted, cancel.because());
  }

  const std::size_t most;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Block> full;
  bool stopping = false, ended = false;
  std::exception_ptr failure;
  Cancel cancel{"interrupted: the frames are not needed any more"};
  std::jthread pass;  // last: it uses all of the above
};

/// Collects frames in blocks, one for every worker, and pushes those that are full.
class FrameQueue::HandOver final : public Operation {
 public:
  HandOver(Shared& shared, DType type, Index frames) : shared_(shared), type_(type), most_(frames) {}

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override {
    Abilities abilities;
    abilities.copy = type_;
    abilities.state_bytes = static_cast<std::size_t>(most_ * shape.detector.out_pixels()) * size_bytes(type_);
    return abilities;
  }
  void start(const PassShape& shape) override {
    rows_ = shape.detector.out_rows;
    cols_ = shape.detector.out_cols;
  }
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape&) const override { return std::make_unique<Part>(); }

  void place_copies(std::span<const Index> positions, State* state, std::span<void*> places) override {
    Block& block = static_cast<Part&>(*state).block;
    if (std::ssize(block.positions) + std::ssize(positions) > most_) push(block);
    for (std::size_t k = 0; k < positions.size(); ++k) places[k] = add(block, positions[k]);
  }
  void take(const Tile& tile, State* state) override {
    Block& block = static_cast<Part&>(*state).block;
    tile.shape->scale_to_means(frame(block, std::ssize(block.positions) - tile.count()), tile.count());
    if (std::ssize(block.positions) == most_) push(block);
  }
  // Not in take(): a worker that waits would keep its place from parallel loops of the user.
  void after_batch(std::span<const Index>) override { shared_.wait_for_room(); }
  void merge(State& total, State& part) const override {
    Block &to = static_cast<Part&>(total).block, &from = static_cast<Part&>(part).block;
    for (Index k = 0; k < std::ssize(from.positions); ++k) {
      if (std::ssize(to.positions) == most_) push(to);
      std::memcpy(add(to, from.positions[static_cast<std::size_t>(k)]), frame(from, k), frame_bytes());
    }
  }
  void finish(State* total) override { push(static_cast<Part&>(*total).block); }

 private:
  struct Part final : State {
    Block block;
  };

  [[nodiscard]] std::size_t frame_bytes() const { return static_cast<std::size_t>(rows_ * cols_) * size_bytes(type_); }
  [[nodiscard]] void* frame(Block& block, Index k) const {
    return static_cast<std::byte*>(block.frames.data()) + static_cast<std::size_t>(k) * frame_bytes();
  }
  /// The place of one more frame.
  void* add(Block& block, Index position) const {
    if (block.frames.empty()) block.frames = Array(Device::cpu(), {most_, rows_, cols_}, type_);
    block.positions.push_back(position);
    return frame(block, std::ssize(block.positions) - 1);
  }
  /// The block as it is, and a new one in its place.
  void push(Block& block) const {
    if (block.positions.empty()) return;
    const Index count = std::ssize(block.positions);
    if (count < most_) {
      Array fewer(Device::cpu(), {count, rows_, cols_}, type_);
      std::memcpy(fewer.data(), block.frames.data(), static_cast<std::size_t>(count) * frame_bytes());
      block.frames = std::move(fewer);
    }
    shared_.push(std::exchange(block, {}));
  }

  Shared& shared_;
  const DType type_;
  const Index most_;
  Index rows_ = 0, cols_ = 0;
};

FrameQueue::FrameQueue(const Dataset& dataset, Index frames, std::size_t blocks)
    : shared_(std::make_unique<Shared>(std::max<std::size_t>(1, blocks))) {
  if (frames < least_frames)
    throw Error(ErrorKind::bad_input, fmt::format("blocks of {} frames; expected {} or more", frames, least_frames));
  Shared& shared = *shared_;
  shared.pass = std::jthread(in_this_run([&shared, &dataset, frames] {
    const CancelScope scope(&shared.cancel);
    std::exception_ptr failure;
    try {
      HandOver hand_over(shared, dataset.dtype(), frames);
      Operation* const operation = &hand_over;
      visit_frames(dataset, "", std::span(&operation, 1));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(shared.mutex);
    shared.failure = failure;
    shared.ended = true;
    shared.changed.notify_all();
  }));
}

FrameQueue::~FrameQueue() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->cancel.request();
  shared_->changed.notify_all();
  shared_->pass.join();
}

std::optional<FrameQueue::Block> FrameQueue::next() {
  using namespace std::chrono_literals;
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  while (!shared.changed.wait_for(lock, 50ms, [&] { return !shared.full.empty() || shared.ended; })) check_interrupt();
  check_interrupt();
  if (!shared.full.empty()) {
    Block block = std::move(shared.full.front());
    shared.full.pop_front();
    shared.changed.notify_all();
    return block;
  }
  if (shared.failure) std::rethrow_exception(shared.failure);
  return std::nullopt;
}

}  // namespace sonde::stem
