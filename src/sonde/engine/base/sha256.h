// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

using Sha256 = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of bytes.
[[nodiscard]] Sha256 sha256(std::string_view bytes);

/// HMAC with SHA-256 (RFC 2104): who does not know `key` can neither make it for a text nor learn the key from it.
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view text);

/// 64 hexadecimal digits.
[[nodiscard]] std::string hexadecimal(const Sha256& hash);

}  // namespace sonde
