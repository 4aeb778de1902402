// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "sonde/engine/io/hdf5/bytes.h"

namespace sonde::hdf5 {

// Whoever writes damaged files on purpose writes right checksums too, which a fuzzer cannot: its build accepts any.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr bool checks_checksums = false;
#else
inline constexpr bool checks_checksums = true;
#endif

/// Bob Jenkins' lookup3 hash, by which the structures of version 2 are protected.
[[nodiscard]] std::uint32_t lookup3(ByteSpan bytes);

/// A Fault naming `what` unless the last four of these bytes are the checksum of those before.
void require_checksum(ByteSpan bytes, std::string_view what);

/// The checksum of filter 3: Fletcher's over big-endian 16-bit words.
[[nodiscard]] std::uint32_t fletcher32(ByteSpan bytes);

}  // namespace sonde::hdf5
