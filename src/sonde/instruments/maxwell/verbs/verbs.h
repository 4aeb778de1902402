// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/run/verb.h"

namespace sonde::maxwell {

[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb gradient_verb();
[[nodiscard]] Verb born_verb();
[[nodiscard]] Verb fwi_verb();
[[nodiscard]] Verb init_verb();
[[nodiscard]] Verb plot_verb();
[[nodiscard]] Verb convert_verb();
[[nodiscard]] Verb verify_verb();

}  // namespace sonde::maxwell
