// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/panel/page.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/load/series.h"

namespace sonde::stem {

/// What a page shows, and how it is loaded.
struct ViewOptions {
  LoadOptions load;
  SeriesOptions series;
  double watch_s = 2;  ///< between two looks at the folders for new scans; 0: never
};

/// The page of scans, docs/viewer-protocol.md, "The page of scans". Every path (a scan, or a folder of them) is
/// one data set; a folder is a series, and scans that are finished while the page is open join it. All are opened and
/// validated here; they are loaded in the background, the first one first. A folder that is watched may be without a
/// finished scan: the page says that it waits. Throws what opening throws, and Error(usage) without paths. The last
/// copy of the page, and the last session, end the background work.
[[nodiscard]] panel::Page make_page(const std::vector<std::string>& paths, const ViewOptions& options, Budget budget,
                                    Device device = Device::cpu());

/// The page of one scan that is loaded already; it is shown and never loaded again.
[[nodiscard]] panel::Page make_page(std::shared_ptr<const Dataset> dataset, Budget budget);

/// The page of a series that others use as well: what they hold is shown, and items loaded here are theirs too.
[[nodiscard]] panel::Page make_page(std::shared_ptr<Series> series);

/// The page of several such series, one data set each, in this order; Series::of() makes one of a scan that is loaded.
/// What is computed of them stays within `budget`. Throws Error(usage) without one.
[[nodiscard]] panel::Page make_page(std::vector<std::shared_ptr<Series>> series, Budget budget);

}  // namespace sonde::stem
