// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace sonde {
namespace {

struct SharedSink {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
};

SharedSink& shared_sink() {
  static SharedSink shared;
  return shared;
}

}  // namespace

LogSink set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  SharedSink& shared = shared_sink();
  const std::lock_guard lock(shared.mutex);
  std::swap(shared.sink, next);
  return next ? *next : LogSink{};
}

void log(LogLevel level, const std::string& message) {
  std::shared_ptr<const LogSink> sink;
  {
    SharedSink& shared = shared_sink();
    const std::lock_guard lock(shared.mutex);
    sink = shared.sink;
  }
  if (sink) (*sink)(level, message);
}

}  // namespace sonde
