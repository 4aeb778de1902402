// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/panel/page.h"
#include "sonde/engine/panel/stored_result.h"
#include "sonde/engine/run/run.h"

namespace sonde::join {

/// What every door gives to a run: pages that a server shows, and frames of 4D-STEM files where the build has their
/// reader. Who starts the run adds how it speaks.
[[nodiscard]] Surroundings surroundings();

/// The page of a result as the instrument arranges it that wrote it ("sonde.ptycho.result/1").
[[nodiscard]] panel::Page page_of_result(panel::StoredResult result);

}  // namespace sonde::join
