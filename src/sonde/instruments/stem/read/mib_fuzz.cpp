// SPDX-License-Identifier: Apache-2.0
// Any bytes are a header whose payload decodes, or an Error. The text after the last zero byte stands in for the .hdr
// file, and the bytes themselves, over and over, for the payload.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/mib.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto all = std::as_bytes(std::span(bytes, size));
  try {
    const auto last_zero = std::find(all.rbegin(), all.rend(), std::byte{0});
    const auto sidecar = sonde::stem::parse_mib_sidecar({bytes + (all.rend() - last_zero), bytes + size});
    const auto header =
        sonde::stem::parse_mib_header(all.first(std::min<std::size_t>(size, 4096)), sidecar, "fuzz.mib");
    const auto elements = static_cast<std::size_t>(header.rows * header.cols) * sonde::size_bytes(header.dtype);
    constexpr std::size_t most_bytes = std::size_t{1} << 16;  // keeps the fuzzer fast
    if (elements == 0) std::abort();
    if (elements > most_bytes) return 0;
    std::vector<std::byte> payload(header.payload_bytes);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = all[(header.header_bytes + i) % size];
    std::vector<std::byte> picture(elements);
    sonde::stem::decode_mib(header, payload, picture);
  } catch (const sonde::Error&) {
  }
  return 0;
}
