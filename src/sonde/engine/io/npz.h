// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/zip.h"

namespace sonde {

struct NamedArray {
  std::string name;  ///< without ".npy"
  Array array{};
  std::optional<std::string> text{};  ///< in place of the array
};

/// The arrays and single texts of an NPZ archive (numpy.savez, savez_compressed) in file order; other entries are left
/// out. Throws like ZipReader and parse_npy, naming archive and entry. Needs twice the memory of the largest array for
/// a moment.
[[nodiscard]] std::vector<NamedArray> read_npz(const std::string& path);

/// Writes atomically what numpy.load reads. Throws Error(io).
void write_npz(const std::string& path, std::span<const NamedArray> arrays, ZipMethod method = ZipMethod::stored,
               const OutputRole& role = {});

}  // namespace sonde
