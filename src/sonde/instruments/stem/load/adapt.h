// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// What integers other than u8, u16 and u32 become: counts, or floats that keep their sign.
enum class WorkingValues { counts, as_they_are };

/// A source whose elements are u8, u16, u32 or f32, the types the loading pass works on. Returns `source` itself when
/// they already are. Counts of i8, i16, i32 become unsigned (a negative value is an Error(bad_file) that names frame
/// and pixel, as is a value of u64 or i64 beyond u32); as they are, all of these become f32. f64 becomes f32. Both are
/// noted in the acquisition.
[[nodiscard]] std::unique_ptr<Source> with_working_type(std::unique_ptr<Source> source,
                                                        WorkingValues values = WorkingValues::counts);

/// A source whose detector rows and columns are exchanged (--transpose-detector), pixel mask included.
[[nodiscard]] std::unique_ptr<Source> with_transposed_detector(std::unique_ptr<Source> source);

/// A source as the options ask for it: both of the above.
[[nodiscard]] std::unique_ptr<Source> adapt(std::unique_ptr<Source> source, const LoadOptions& options);

/// NXdetector bits of the stored detector: those of the file, joined with the mask file of the options.
[[nodiscard]] std::vector<std::uint32_t> mask_of(const Acquisition& acquisition, const LoadOptions& options);

}  // namespace sonde::stem
