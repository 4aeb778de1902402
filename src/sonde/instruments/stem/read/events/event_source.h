// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/stem/read/events/stored_events.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Lists of electrons as a scan: a frame is how often each pixel is in the list of its position. Elements are u8, u16
/// or u32, the narrowest that no list can overflow. Positions without a frame are absent. Reads 4 bytes for each
/// electron; decode() clears a frame and adds one for each. Throws Error(usage) when `options` give a value for "no
/// data", which lists do not have, and what choose_scan_shape throws.
[[nodiscard]] std::unique_ptr<Source> open_events(std::unique_ptr<StoredEvents> events, const ReadOptions& options);

}  // namespace sonde::stem
