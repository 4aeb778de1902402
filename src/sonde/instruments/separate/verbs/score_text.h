// SPDX-License-Identifier: Apache-2.0
// Scores as a table for people, as rows of a file and as results.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/run/run.h"
#include "sonde/instruments/separate/score/stem_scores.h"

namespace sonde::separate {

/// Says a table of every stem and of the means, and puts the same and the scores of frames into the results, as
/// `stems` and `mean`.
void report_scores(const std::vector<StemScore>& scores, Run& run);

/// A line for each stem; what was not computed has no column, what has no number is empty.
[[nodiscard]] std::string scores_csv(const std::vector<StemScore>& scores);

/// The mean over the stems of how far the SDR rises over that of the mixture.
[[nodiscard]] double mean_rise_db(const std::vector<StemScore>& scores);

}  // namespace sonde::separate
