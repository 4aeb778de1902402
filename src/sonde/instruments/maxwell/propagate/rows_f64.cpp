// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/rows_of_type.h"

namespace sonde::maxwell {

SONDE_ROWS_OF_TYPE(double, f64)

}  // namespace sonde::maxwell
