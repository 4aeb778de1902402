// SPDX-License-Identifier: Apache-2.0
// Any bytes are an array or an Error; an array that was read survives writing its header and reading it again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const sonde::Array array = sonde::parse_npy(std::as_bytes(std::span(bytes, size)), "fuzz.npy");
    std::string file = sonde::npy_header(array.dtype(), array.shape());
    file.append(static_cast<const char*>(array.data()),
                static_cast<std::size_t>(array.count()) * sonde::size_bytes(array.dtype()));
    const sonde::Array again = sonde::parse_npy(std::as_bytes(std::span(file)), "again.npy");
    if (!(again.shape() == array.shape()) || again.dtype() != array.dtype()) std::abort();
  } catch (const sonde::Error&) {
  }
  return 0;
}
