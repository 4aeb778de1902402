// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/progress.h"

#include <memory>
#include <utility>

namespace sonde {
namespace {

constexpr double pause_s = 0.1;  // more often than ten times a second no one can read

struct SharedSink {
  std::atomic<bool> present{false};
  std::mutex mutex;
  std::shared_ptr<const ProgressSink> sink;
};

SharedSink& shared_sink() {
  static SharedSink shared;
  return shared;
}

std::shared_ptr<const ProgressSink> sink_of_application() {
  const std::lock_guard lock(shared_sink().mutex);
  return shared_sink().sink;
}

thread_local std::shared_ptr<const ProgressScope::Listener> listener;

}  // namespace

ProgressScope::ProgressScope(ProgressSink sink, Pause* pause)
    : outer_(std::exchange(listener, std::make_shared<const Listener>(Listener{std::move(sink), pause}))) {}

ProgressScope::~ProgressScope() { listener = std::move(outer_); }

ProgressSink present_progress_sink() {
  return [own = listener](const Progress& progress) {
    if (own) return own->sink(progress);
    if (const auto sink = sink_of_application()) (*sink)(progress);
  };
}

ProgressSink set_progress_sink(ProgressSink sink) {
  auto next = sink ? std::make_shared<const ProgressSink>(std::move(sink)) : nullptr;
  SharedSink& shared = shared_sink();
  const std::lock_guard lock(shared.mutex);
  std::swap(shared.sink, next);
  shared.present.store(shared.sink != nullptr, std::memory_order_relaxed);
  return next ? *next : ProgressSink{};
}

ProgressMeter::ProgressMeter(std::string stage, Index total, std::string unit) : own_(listener) {
  progress_.stage = std::move(stage);
  progress_.unit = std::move(unit);
  progress_.total = total;
  if (own_ && own_->pause != nullptr) paused_before_s_ = own_->pause->seconds();
}

ProgressMeter::~ProgressMeter() {
  try {
    tell(When::last);
  } catch (...) {  // a sink that fails to draw must not end the work
  }
}

void ProgressMeter::advance(Index steps) {
  done_.fetch_add(steps, std::memory_order_relaxed);
  if (own_ && own_->pause != nullptr && own_->pause->wanted()) {
    tell(When::now);
    own_->pause->wait();
  } else if (own_ || shared_sink().present.load(std::memory_order_relaxed)) {
    tell(When::if_due);
  }
}

void ProgressMeter::tell(When when) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (when != When::if_due)
    lock.lock();
  else if (!lock.try_lock())
    return;  // another thread is telling
  const double now_s = watch_.seconds();
  if (when == When::if_due && now_s - told_s_ < pause_s) return;
  told_s_ = now_s;
  const std::shared_ptr<const ProgressSink> shared = own_ ? nullptr : sink_of_application();
  if (!own_ && !shared) return;
  const double paused_s = own_ && own_->pause != nullptr ? own_->pause->seconds() - paused_before_s_ : 0;
  progress_.done = done_.load(std::memory_order_relaxed);
  progress_.elapsed_s = now_s - paused_s;
  progress_.rate = progress_.elapsed_s > 0 ? static_cast<double>(progress_.done) / progress_.elapsed_s : 0;
  progress_.finished = when == When::last;
  own_ ? own_->sink(progress_) : (*shared)(progress_);
}

}  // namespace sonde
