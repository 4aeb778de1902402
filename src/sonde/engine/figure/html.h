// SPDX-License-Identifier: Apache-2.0
// Pieces of self-contained pages: nothing in them is fetched from anywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sonde/engine/array/array.h"

namespace sonde {

/// Text inside of an element or an attribute: & < > and " are written as entities.
[[nodiscard]] std::string html_text(std::string_view text);

/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

/// "data:image/png;base64,..." of a picture, u8 (rows, cols, 3).
[[nodiscard]] std::string png_data(const Array& picture);

}  // namespace sonde
