// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/records_chart.h"

#include "sonde/instruments/maxwell/results/traces_chart.h"

namespace sonde::maxwell {

Chart records_chart(const ObservedData& data, const RecordsChoice& choice) { return line_chart(line_of(data, choice)); }

}  // namespace sonde::maxwell
