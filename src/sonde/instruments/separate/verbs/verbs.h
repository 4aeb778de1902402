// SPDX-License-Identifier: Apache-2.0
// One function per verb; instrument.cpp puts them in order.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::separate {

[[nodiscard]] Verb convert_verb();
[[nodiscard]] Verb demo_verb();
[[nodiscard]] Verb ensemble_verb();
[[nodiscard]] Verb eval_verb();
[[nodiscard]] Verb info_verb();
[[nodiscard]] Verb midi_verb();
[[nodiscard]] Verb plot_verb();
[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb simulate_verb();

}  // namespace sonde::separate
