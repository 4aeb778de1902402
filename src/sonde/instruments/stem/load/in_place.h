// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// A scan whose frames lie in host memory already: a contiguous array (scan rows, scan cols, rows, cols) of any integer
/// or floating-point type. `name` stands for it in messages. The elements are read whenever frames are needed, so they
/// must stay as they are. Throws Error(bad_input) for other arrays, Error(usage) when `options` say how a file is to be
/// read.
[[nodiscard]] std::unique_ptr<Source> open_array(Array scan, const std::string& name, const LoadOptions& options);

/// Loads such a scan without a copy: the data set's frames are the elements of `scan` (u8, u16, u32 or f32), and one
/// pass over them finds moments and bad pixels. Throws Error(bad_input) when `options` ask for elements that would
/// differ from those of the array (bins, regions, masks, another layout or type), or when pixels are bad and
/// hot_pixels is not none: a load of open_array() makes such elements.
[[nodiscard]] Dataset load_in_place(Array scan, const std::string& name, const LoadOptions& options, Budget budget);

}  // namespace sonde::stem
