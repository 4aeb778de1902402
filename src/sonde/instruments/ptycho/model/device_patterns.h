// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/ptycho/model/measurement.h"

namespace sonde::ptycho {

namespace device {
struct Patterns;
}

/// Where measured patterns wait for the kernels of a device: all of them there, copied once, or on the host, from which
/// those of a group are copied through one of two pinned buffers while the group before is worked on.
enum class PatternTier { device, host };

/// The measured patterns for the kernels of a device, as the measurement keeps them (AmplitudeStorage), and the stream
/// on which those kernels work. With a device that is the CPU the kernels are played by one thread, for tests.
class DevicePatterns {
 public:
  static constexpr int buffers = 2;

  /// `measurement` must outlive this. Throws Error(budget) when the device has no room.
  DevicePatterns(Device device, const Measurement& measurement, PatternTier tier);
  DevicePatterns(const DevicePatterns&) = delete;
  DevicePatterns& operator=(const DevicePatterns&) = delete;
  /// Waits for the copies.
  ~DevicePatterns();

  [[nodiscard]] Stream& stream() { return work_; }
  [[nodiscard]] PatternTier tier() const { return tier_; }

  /// Makes room for groups of up to `slots` patterns; only when they wait on the host.
  void reserve(Index slots);
  /// Kernels that are queued to stream() from now on find these frames in a buffer, in their order.
  void bring(std::span<const Index> frames, int buffer);
  /// After the last kernel that reads a buffer has been queued.
  void leave(int buffer);
  /// What the kernels read; valid until reserve().
  [[nodiscard]] device::Patterns view(int buffer) const;

 private:
  /// A copy on its way: filled by the host, sent on a stream of its own.
  struct Lane {
    Stream copies;
    Event sent, left;
    PinnedBlock pinned;
    Array patterns;
    bool used = false;
  };

  void fill(std::span<const Index> frames, std::byte* to) const;
  void copy_all();

  const Measurement* measurement_;
  PatternTier tier_;
  std::size_t pattern_bytes_;
  Stream work_;
  Array all_;
  std::vector<Lane> lanes_;
};

}  // namespace sonde::ptycho
