// SPDX-License-Identifier: Apache-2.0
// Any bytes are either a file of tables or an Error; the text of what was accepted reads back to the same echo.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/example_tables.h"
#include "sonde/engine/options/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  sonde::testing::ExampleRun run;
  sonde::Tables tables = run.tables();
  try {
    sonde::parse_toml({reinterpret_cast<const char*>(bytes), size}, "run.toml", tables);
  } catch (const sonde::Error&) {
    return 0;
  }
  sonde::testing::ExampleRun again;
  sonde::Tables read = again.tables();
  sonde::parse_toml(sonde::to_toml(tables.echo()), "again.toml", read);
  if (!(read.echo() == tables.echo())) std::abort();
  return 0;
}
