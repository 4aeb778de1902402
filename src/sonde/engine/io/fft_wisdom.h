// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/cache_file.h"

// What measured Fourier plans have learnt (math/fft.h), kept between runs in the user's cache folder, so that only the
// first run of a shape pays for measuring. It holds for one library on one processor.

namespace sonde {

/// Makes earlier measurements known, of shapes that this process has not measured itself. A file that is missing,
/// damaged, or from another processor or library is ignored, and the answer is false.
bool load_fft_wisdom(const std::string& path = cache_path("fft-wisdom"));

/// Keeps what is known now for later runs, atomically. Nothing is written when the file says the same already, or when
/// it cannot be written, which is a note: it is only a cache.
void save_fft_wisdom(const std::string& path = cache_path("fft-wisdom"));

}  // namespace sonde
