// SPDX-License-Identifier: Apache-2.0
// One function per verb; instrument.cpp puts them in order.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::neoclassical {

[[nodiscard]] Verb boozer_verb();
[[nodiscard]] Verb convergence_verb();
[[nodiscard]] Verb convert_verb();
[[nodiscard]] Verb database_verb();
[[nodiscard]] Verb plot_verb();
[[nodiscard]] Verb profile_verb();
[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb scan_verb();

}  // namespace sonde::neoclassical
