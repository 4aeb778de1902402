// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"

namespace sonde {

/// The bytes of a PNG file. `image` is u8 or u16 grey of shape (rows, cols), or u8 colour of shape (rows, cols, 3) or
/// (rows, cols, 4), on the host. `description` is stored as text when not empty. Throws Error(bad_input) for other
/// arrays and for empty ones. The file names sonde as the program that made it (io/mark.h).
[[nodiscard]] std::vector<std::byte> encode_png(const Array& image, std::string_view description = {});

/// encode_png into a file, atomically. Throws Error(io), and what AtomicFile throws for the role.
void write_png(const std::string& path, const Array& image, std::string_view description = {},
               const OutputRole& role = {});

/// A greyscale image of shape (rows, cols): u16 for 16 bits, else u8; 1, 2 and 4 bits are stretched to 0..255. Colour,
/// palettes and transparency throw Error(not_supported), broken files Error(bad_file).
[[nodiscard]] Array read_png(const std::string& path);
/// The same from the bytes of a file; `name` stands in messages.
[[nodiscard]] Array decode_png(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sonde
