// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "sonde/engine/device/device.h"

namespace sonde {

/// An ordered queue of work on one device. On the CPU a call returns when its work is done; on a GPU it returns at once
/// and the work runs in order. Movable, not copyable; the destructor waits for the queue.
class Stream {
 public:
  explicit Stream(Device device = Device::cpu());
  Stream(Stream&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  [[nodiscard]] Device device() const { return device_; }
  /// The cudaStream_t, or nullptr on the CPU.
  [[nodiscard]] void* handle() const { return handle_; }

  /// Waits until everything queued so far is done. Throws Error(device) when any of it failed.
  void synchronise();

  /// Copies bytes between host and this device, or within it, ordered with the stream. Asynchronous only from and to
  /// pinned memory.
  void copy(void* to, const void* from, std::size_t bytes);
  void fill_zero(void* to, std::size_t bytes);

 private:
  Device device_;
  void* handle_ = nullptr;
};

/// A mark in a stream: another stream can wait for it, and two of them measure the time of GPU work between them.
/// On the CPU it is a time stamp.
class Event {
 public:
  explicit Event(Device device);
  Event(Event&& other) noexcept
      : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)), seconds_(other.seconds_) {}
  Event& operator=(Event&&) = delete;
  ~Event();

  void record(Stream& stream);
  /// Work queued to `stream` from now on starts after this event.
  void hold(Stream& stream) const;
  /// Seconds of device time from `first` to this event; waits for both.
  [[nodiscard]] double seconds_since(const Event& first) const;

 private:
  Device device_;
  void* handle_ = nullptr;
  double seconds_ = 0;
};

}  // namespace sonde
