// SPDX-License-Identifier: Apache-2.0
// Any bytes either configure or end in an Error; what was accepted reads back from its echo unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/example_options.h"
#include "sonde/engine/options/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using sonde::testing::ExampleOptions;
  ExampleOptions options;
  sonde::Fields fields(options);
  try {
    sonde::parse_toml({reinterpret_cast<const char*>(bytes), size}, "run.toml", fields, "stem load");
  } catch (const sonde::Error&) {
    return 0;
  }
  auto copy = sonde::options_from<ExampleOptions>(fields.echo(), "echo");
  if (!(sonde::Fields(copy).echo() == fields.echo())) std::abort();
  return 0;
}
