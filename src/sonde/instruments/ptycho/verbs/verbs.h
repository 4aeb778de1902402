// SPDX-License-Identifier: Apache-2.0
// One function per verb; instrument.cpp puts them in order.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::ptycho {

[[nodiscard]] Verb compare_verb();
[[nodiscard]] Verb diagnose_verb();
[[nodiscard]] Verb direct_verb();
[[nodiscard]] Verb export_verb();
[[nodiscard]] Verb init_verb();
[[nodiscard]] Verb orient_verb();
[[nodiscard]] Verb report_verb();
[[nodiscard]] Verb resume_verb();
[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb simulate_verb();
[[nodiscard]] Verb sweep_verb();

}  // namespace sonde::ptycho
