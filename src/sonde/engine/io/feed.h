// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sonde/engine/base/run_files.h"

namespace sonde {

/// Blocks that a thread of its own reads ahead while earlier ones are used, in order. With N blocks the reader is at
/// most N ahead and waits when all of them are full or held; memory is what the N blocks hold, nothing is allocated in
/// steady state.
///
///   Feed<RawBatch> feed(std::vector<RawBatch>(3), [&](RawBatch& batch) { return read_next(batch); });
///   while (auto batch = feed.next()) use(*batch);
///
/// Destroying the feed in the middle, for instance when its user throws, stops the reader after the block it is at.
template <class Block>
class Feed {
 public:
  /// Fills one block, on the reader's thread. Returns false, with the block unchanged, when there is no more.
  using Fill = std::function<bool(Block&)>;

  /// A filled block in use; its destructor hands it back to the reader. Empty at the end of the feed. It may be handed
  /// back on any thread, and must be before the feed ends.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept : feed_(std::exchange(other.feed_, nullptr)), block_(other.block_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(feed_, other.feed_);
      std::swap(block_, other.block_);
      return *this;
    }
    ~Lease() {
      if (feed_ != nullptr) feed_->hand_back(block_);
    }
    explicit operator bool() const { return feed_ != nullptr; }
    Block& operator*() const { return *block_; }
    Block* operator->() const { return block_; }

   private:
    friend class Feed;
    Lease(Feed* feed, Block* block) : feed_(feed), block_(block) {}
    Feed* feed_ = nullptr;
    Block* block_ = nullptr;
  };

  /// Starts reading at once. At least two blocks, else nothing can be read ahead.
  Feed(std::vector<Block> blocks, Fill fill) : blocks_(std::move(blocks)), fill_(std::move(fill)) {
    assert(blocks_.size() >= 2);
    for (Block& block : blocks_) empty_.push_back(&block);
    reader_ = std::jthread(in_this_run([this] { read(); }));
  }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    reader_.join();
  }

  /// The next block, waiting for it if need be; an empty lease after the last. An exception of the reader is thrown
  /// here once the blocks before it were handed out, and again by every later call. A user that keeps all N leases to
  /// itself and asks for one more waits for ever: hold at most N - 1.
  [[nodiscard]] Lease next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !full_.empty() || ended_; });
    if (!full_.empty()) {
      Block* block = full_.front();
      full_.pop_front();
      return Lease(this, block);
    }
    if (failure_) std::rethrow_exception(failure_);
    return {};
  }

 private:
  void read() {
    try {
      while (Block* block = wait_for_empty()) {
        const bool filled = fill_(*block);
        const std::lock_guard lock(mutex_);
        if (!filled) break;
        full_.push_back(block);
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// Null when the feed is being destroyed.
  Block* wait_for_empty() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !empty_.empty() || stopping_; });
    if (stopping_) return nullptr;
    Block* block = empty_.front();
    empty_.pop_front();
    return block;
  }

  void hand_back(Block* block) {
    {
      const std::lock_guard lock(mutex_);
      empty_.push_back(block);
    }
    changed_.notify_all();
  }

  std::vector<Block> blocks_;
  Fill fill_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::deque<Block*> empty_, full_;
  bool stopping_ = false, ended_ = false;
  std::exception_ptr failure_;
  std::jthread reader_;  // last: it uses all of the above
};

}  // namespace sonde
