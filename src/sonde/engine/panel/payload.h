// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace sonde::panel {

/// Memory of one frame's numbers, uninitialised. From 32 KiB on it is mapped by itself and goes back to the system when
/// the last copy of the frame has gone: frames live in caches and queues beside small things, and a heap that holds
/// both keeps the space of every frame that was ever dropped (950 MiB were seen). A few blocks are kept for the next
/// frames, at most 16 MiB, so that a drag maps none. Thread-safe; one of the pools, see docs/engine.md.
[[nodiscard]] std::shared_ptr<void> new_payload(std::size_t bytes);

struct PayloadMemory {
  std::size_t in_use = 0;  ///< of frames that are alive
  std::size_t kept = 0;    ///< for the next ones
};
/// Of all frames of this process.
[[nodiscard]] PayloadMemory payload_memory();

}  // namespace sonde::panel
