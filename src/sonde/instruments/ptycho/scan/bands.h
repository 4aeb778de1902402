// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// Members [first, last) of a Bands' order, and the part of the object that their windows touch.
struct Band {
  Index first = 0, last = 0;
  Box box;
};

/// A batch cut for several threads: its positions along a Hilbert curve, in pieces of nearly equal size. Each band adds
/// up in its own tile of the object, and tiles are summed in the order of bands, so that the result does not depend on
/// who worked on which.
struct Bands {
  std::vector<Index> order;  ///< positions of the batch, band after band
  std::vector<Band> bands;
};

/// How finely a batch is cut.
struct BandLimits {
  Index most = 16;          ///< bands
  Index least_members = 4;  ///< of a band; fewer only when the whole batch has fewer
};

/// Bands of the positions `members` (indices into `placements`). Their number, min(most, members / least_members) and
/// at least one, depends only on the data. No members: no bands.
[[nodiscard]] Bands make_bands(std::span<const Index> members, std::span<const Placement> placements, Window window,
                               BandLimits limits = {});

}  // namespace sonde::ptycho
