// SPDX-License-Identifier: Apache-2.0
// The only source that names folders of this build: what other tests compile to is the same in every clone.
#include "tests/support/places.h"

namespace sonde::testing {

std::string source_folder() { return SONDE_SOURCE_DIR; }

std::string program() { return SONDE_PROGRAM; }

}  // namespace sonde::testing
