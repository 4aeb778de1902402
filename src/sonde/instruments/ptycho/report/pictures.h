// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a reader of the report looks at.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/html_page.h"
#include "sonde/instruments/ptycho/report/findings.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// Phase and amplitude in the field of view, and every slice's phase where there are several.
[[nodiscard]] std::vector<Figure> object_figures(const Result& result);
/// The phase's power over spatial frequencies, where the view has enough pixels for one.
[[nodiscard]] std::optional<Figure> spectrum_figure(const Result& result, const Findings& findings);
/// Components by which the first mode varies along the scan.
[[nodiscard]] Index variation_count(const Result& result);
/// Every mode and every component of its variation by phase (hue) and amplitude (brightness), the probe in the back
/// focal plane, and which colour is which phase.
[[nodiscard]] std::vector<Figure> probe_figures(const Result& result, const Findings& findings);
/// Positions over the phase, with arrows from where the file has them to where they were found.
[[nodiscard]] Figure position_figure(const Result& result, const Findings& findings);

}  // namespace sonde::ptycho
