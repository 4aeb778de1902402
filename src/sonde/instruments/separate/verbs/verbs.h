// SPDX-License-Identifier: Apache-2.0
// One function per verb, which instrument.cpp puts in order, and how they say things.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::separate {

/// Where what is said of a word begins in its line.
constexpr int text_column = 12;

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
