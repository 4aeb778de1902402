// SPDX-License-Identifier: Apache-2.0
// One function per verb; instrument.cpp puts them in order.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::stem {

[[nodiscard]] Verb calibrate_verb();
[[nodiscard]] Verb cepstrum_verb();
[[nodiscard]] Verb com_verb();
[[nodiscard]] Verb convert_verb();
[[nodiscard]] Verb count_verb();
[[nodiscard]] Verb crystal_verb();
[[nodiscard]] Verb events_verb();
[[nodiscard]] Verb image_verb();
[[nodiscard]] Verb info_verb();
[[nodiscard]] Verb load_verb();
[[nodiscard]] Verb orient_verb();
[[nodiscard]] Verb phase_verb();
[[nodiscard]] Verb radial_verb();
[[nodiscard]] Verb bragg_verb();
[[nodiscard]] Verb simulate_verb();
[[nodiscard]] Verb strain_verb();
[[nodiscard]] Verb validate_verb();

}  // namespace sonde::stem
