// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/pause.h"

#include "sonde/engine/base/interrupt.h"

namespace sonde {

void Pause::begin() {
  const std::lock_guard lock(mutex_);
  if (!wanted_.exchange(true)) began_s_ = watch_.seconds();
}

void Pause::end() {
  const std::lock_guard lock(mutex_);
  if (wanted_.exchange(false)) earlier_s_ += watch_.seconds() - began_s_;
  ended_.notify_all();
}

bool Pause::wait_for(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, most, [this] { return !wanted_; });
}

void Pause::wait() {
  // Signals ring no bell: they are looked for ten times a second.
  while (!wait_for(std::chrono::milliseconds(100))) check_interrupt();
}

double Pause::seconds() const {
  const std::lock_guard lock(mutex_);
  return earlier_s_ + (wanted_ ? watch_.seconds() - began_s_ : 0);
}

}  // namespace sonde
