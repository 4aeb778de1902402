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

thread_local std::shared_ptr<const ProgressSink> scope_sink;

}  // namespace

ProgressScope::ProgressScope(ProgressSink sink)
    : outer_(std::exchange(scope_sink, std::make_shared<const ProgressSink>(std::move(sink)))) {}

ProgressScope::~ProgressScope() { scope_sink = std::move(outer_); }

ProgressSink set_progress_sink(ProgressSink sink) {
  auto next = sink ? std::make_shared<const ProgressSink>(std::move(sink)) : nullptr;
  SharedSink& shared = shared_sink();
  const std::lock_guard lock(shared.mutex);
  std::swap(shared.sink, next);
  shared.present.store(shared.sink != nullptr, std::memory_order_relaxed);
  return next ? *next : ProgressSink{};
}

ProgressMeter::ProgressMeter(std::string stage, Index total, std::string unit) : own_(scope_sink) {
  progress_.stage = std::move(stage);
  progress_.unit = std::move(unit);
  progress_.total = total;
}

ProgressMeter::~ProgressMeter() {
  try {
    tell(true);
  } catch (...) {  // a sink that fails to draw must not end the work
  }
}

void ProgressMeter::advance(Index steps) {
  done_.fetch_add(steps, std::memory_order_relaxed);
  if (own_ || shared_sink().present.load(std::memory_order_relaxed)) tell(false);
}

void ProgressMeter::tell(bool finished) {
  std::unique_lock own(mutex_, std::defer_lock);
  if (finished)
    own.lock();
  else if (!own.try_lock())
    return;  // another thread is telling
  const double now_s = watch_.seconds();
  if (!finished && now_s - told_s_ < pause_s) return;
  told_s_ = now_s;
  std::shared_ptr<const ProgressSink> sink = own_;
  if (!sink) {
    const std::lock_guard lock(shared_sink().mutex);
    sink = shared_sink().sink;
  }
  if (!sink) return;
  progress_.done = done_.load(std::memory_order_relaxed);
  progress_.elapsed_s = now_s;
  progress_.rate = now_s > 0 ? static_cast<double>(progress_.done) / now_s : 0;
  progress_.finished = finished;
  (*sink)(progress_);
}

}  // namespace sonde
