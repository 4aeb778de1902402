// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/device_patterns.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/model/waves_device.h"

namespace sonde::ptycho {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 20;  // of all patterns on their way to the device

device::Stored stored_as(const Measurement& measurement) {
  switch (measurement.storage()) {
    case AmplitudeStorage::f64:
      return device::Stored::f64;
    case AmplitudeStorage::f32:
      return device::Stored::f32;
    case AmplitudeStorage::f16:
      return device::Stored::f16;
    case AmplitudeStorage::bf16:
      return device::Stored::bf16;
    default:
      return measurement.stored_type() == DType::u8 ? device::Stored::counts_u8 : device::Stored::counts_u16;
  }
}

}  // namespace

DevicePatterns::DevicePatterns(Device device, const Measurement& measurement, PatternTier tier)
    : measurement_(&measurement),
      tier_(tier),
      pattern_bytes_(static_cast<std::size_t>(measurement.pixels()) * size_bytes(measurement.stored_type())),
      work_(device) {
  if (tier_ == PatternTier::device) {
    copy_all();
    return;
  }
  lanes_.reserve(buffers);
  for (int i = 0; i < buffers; ++i)
    lanes_.push_back(
        {.copies = Stream(device), .sent = Event(device), .left = Event(device), .pinned = {}, .patterns = {}});
}

DevicePatterns::~DevicePatterns() {
  try {
    for (Lane& lane : lanes_) lane.copies.synchronise();
    work_.synchronise();
  } catch (...) {  // the failure itself has been thrown where it was met
  }
}

/// Patterns one after another.
void DevicePatterns::fill(std::span<const Index> frames, std::byte* to) const {
  parallel_for(static_cast<Index>(frames.size()), 8, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i)
      measurement_->copy_stored(frames[static_cast<std::size_t>(i)], to + static_cast<std::size_t>(i) * pattern_bytes_);
  });
}

void DevicePatterns::copy_all() {
  const Index count = measurement_->count();
  const Index piece = std::clamp<Index>(static_cast<Index>(piece_bytes / pattern_bytes_), 1, count);
  all_ = Array(work_.device(), Shape{count, measurement_->rows(), measurement_->cols()}, measurement_->stored_type());
  const PinnedBlock pinned(work_.device(), static_cast<std::size_t>(piece) * pattern_bytes_);
  std::vector<Index> frames(static_cast<std::size_t>(count));
  std::iota(frames.begin(), frames.end(), Index{0});
  for (Index first = 0; first < count; first += piece) {
    const auto some = std::span(frames).subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(std::min(piece, count - first)));
    fill(some, pinned.data());
    work_.copy(static_cast<std::byte*>(all_.data()) + static_cast<std::size_t>(first) * pattern_bytes_, pinned.data(),
               some.size() * pattern_bytes_);
    work_.synchronise();
  }
}

void DevicePatterns::reserve(Index slots) {
  const std::size_t bytes = static_cast<std::size_t>(slots) * pattern_bytes_;
  for (Lane& lane : lanes_) {
    if (lane.pinned.size() >= bytes) continue;
    lane.copies.synchronise();
    work_.synchronise();
    lane.pinned = PinnedBlock(work_.device(), bytes);
    lane.patterns = Array(work_.device(), Shape{static_cast<Index>(bytes)}, DType::u8);
    lane.used = false;
  }
}

void DevicePatterns::bring(std::span<const Index> frames, int buffer) {
  if (tier_ == PatternTier::device) return;
  Lane& lane = lanes_[static_cast<std::size_t>(buffer)];
  lane.copies.synchronise();  // the bytes of the last time have left the pinned buffer
  fill(frames, lane.pinned.data());
  if (lane.used) lane.left.hold(lane.copies);  // kernels may still read what was brought before
  lane.copies.copy(lane.patterns.data(), lane.pinned.data(), frames.size() * pattern_bytes_);
  lane.sent.record(lane.copies);
  lane.sent.hold(work_);
}

void DevicePatterns::leave(int buffer) {
  if (tier_ == PatternTier::device) return;
  Lane& lane = lanes_[static_cast<std::size_t>(buffer)];
  lane.left.record(work_);
  lane.used = true;
}

device::Patterns DevicePatterns::view(int buffer) const {
  if (tier_ == PatternTier::device) return {all_.data(), stored_as(*measurement_), false};
  return {lanes_[static_cast<std::size_t>(buffer)].patterns.data(), stored_as(*measurement_), true};
}

}  // namespace sonde::ptycho
