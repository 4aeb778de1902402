// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {

/// What lasts, and what each point that is worked on holds beside it.
struct ScanBytes {
  std::size_t fixed = 0, each = 0;
};

/// On a GPU, for the path that takes more.
[[nodiscard]] ScanBytes device_bytes(const Plan& plan, std::span<const Case> cases, Device device);

/// How many cases at a time the device of `options` holds, for the path that takes more.
[[nodiscard]] Choice<Index> choose_device_batch(const Plan& plan, std::span<const Case> cases,
                                                const ScanOptions& options);

/// Solves all cases on that device and reports each to `done`; returns those that it found no solution of, which the
/// CPU may find: it refines with more digits, and has another path. Throws Error(not_supported) for cases that are of
/// the CPU.
[[nodiscard]] std::vector<Index> scan_in_batches(const Plan& plan, std::span<const Case> cases,
                                                 const ScanOptions& options,
                                                 const std::function<void(Index which, const Point& point)>& done);

}  // namespace sonde::neoclassical
