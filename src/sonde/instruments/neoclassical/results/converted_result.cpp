// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/converted_result.h"

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/results/result_file.h"

namespace sonde::neoclassical {

Converted converted_result(const std::string& path, const ConversionSettings& settings) {
  const ResultFile file(path);
  // A scan has NaN for points without an answer; in a database that is damage.
  if (file.has("Er_tilde")) (void)read_database(path);
  return during("converting " + path, [&] { return converted_file(file.numbers(), settings); });
}

}  // namespace sonde::neoclassical
