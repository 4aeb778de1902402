// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/view/line_profile.h"
#include "sonde/instruments/stem/view/painter.h"

namespace sonde::stem {

inline constexpr Index most_channels = 8;

/// Where a client says that the beam is; it counts for every item of a data set.
struct GivenBeam {
  double row = 0, col = 0, radius = 0;
};

/// Everything that a client chose, as plain data: what its pictures follow from, and what is saved.
struct ClientView {
  struct Channel {
    std::string detector;  ///< an expression or a first moment; empty: no detector
    bool spectrum = false;
    bool hann = false;
  };

  Index dataset = 0;
  std::map<Index, Index> items;  ///< of every data set that was looked at; 0 for the others
  Index scan_row = 0, scan_col = 0;
  std::array<Channel, most_channels> channels;
  std::string scan_roi;  ///< an expression in scan pixels; empty: the whole scan
  Reduction reduction = Reduction::sum;
  std::map<Index, GivenBeam> beams;  ///< of data sets for which the client gave one
  std::vector<Index> compared;       ///< data sets that follow every detector
  struct Line {
    std::string panel;
    Index channel = 0;
    Place p0, p1;
    double width = 1;
  };
  std::optional<Line> line;  ///< the last line profile

  [[nodiscard]] Index item(Index of_dataset) const {
    const auto found = items.find(of_dataset);
    return found == items.end() ? 0 : found->second;
  }
};

}  // namespace sonde::stem
