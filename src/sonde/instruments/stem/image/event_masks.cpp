// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/event_masks.h"

#include "sonde/engine/base/error.h"

namespace sonde::stem {

EventMasks EventMasks::prepare(std::span<const Mask> masks) {
  if (masks.size() > most_masks) throw Error(ErrorKind::internal, "more masks of events than there are bits");
  EventMasks made;
  for (std::size_t m = 0; m < masks.size(); ++m) {
    if (!masks[m].boolean()) throw Error(ErrorKind::internal, "a weighted mask of events");
    made.masks_of_.resize(static_cast<std::size_t>(masks[m].rows * masks[m].cols));
    for (const Index pixel : masks[m].pixels) made.masks_of_[static_cast<std::size_t>(pixel)] |= std::uint64_t{1} << m;
  }
  return made;
}

}  // namespace sonde::stem
