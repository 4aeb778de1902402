// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/stream.h"

#include <chrono>
#include <cstring>

#include "sonde/engine/device/device_kernels.h"

namespace sonde {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Stream::Stream(Device device) : device_(device) {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) handle_ = cuda::create_stream(device_.info().ordinal);
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if constexpr (built_with_cuda)
    if (handle_ != nullptr) cuda::destroy_stream(device_.info().ordinal, handle_);
}

void Stream::synchronise() {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) cuda::synchronise(device_.info().ordinal, handle_);
}

void Stream::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) return cuda::copy(device_.info().ordinal, handle_, to, from, bytes);
  std::memcpy(to, from, bytes);
}

void Stream::fill_zero(void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) return cuda::fill(device_.info().ordinal, handle_, to, 0, bytes);
  std::memset(to, 0, bytes);
}

Event::Event(Device device) : device_(device) {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) handle_ = cuda::create_event(device_.info().ordinal);
}

Event::~Event() {
  if constexpr (built_with_cuda)
    if (handle_ != nullptr) cuda::destroy_event(device_.info().ordinal, handle_);
}

void Event::record(Stream& stream) {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) return cuda::record(device_.info().ordinal, handle_, stream.handle());
  (void)stream;
  seconds_ = now_seconds();
}

void Event::hold(Stream& stream) const {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) cuda::wait(device_.info().ordinal, stream.handle(), handle_);
  (void)stream;
}

double Event::seconds_since(const Event& first) const {
  if constexpr (built_with_cuda)
    if (!device_.is_cpu()) return cuda::seconds_between(device_.info().ordinal, first.handle_, handle_);
  return seconds_ - first.seconds_;
}

}  // namespace sonde
