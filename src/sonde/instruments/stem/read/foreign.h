// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/read/file_start.h"

namespace sonde::stem {

/// A format that is known but not read: its name as it follows "is", and one line on what to do.
struct ForeignFormat {
  std::string_view name, remedy;
};

/// Nothing for files of other formats.
[[nodiscard]] std::optional<ForeignFormat> foreign_format(const FileStart& start);

/// Velox stores images and spectra in HDF5, in a tree of its own.
[[nodiscard]] bool is_velox(const Hdf5File& file);
[[nodiscard]] ForeignFormat velox_format();

/// Error(not_supported) "PATH: is NAME, which is not read" with the remedy.
[[nodiscard]] Error foreign_error(const std::string& path, const ForeignFormat& format);

}  // namespace sonde::stem
