// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace sonde::maxwell {

/// While it lives this thread takes denormal numbers as zero: the tails of fields in absorbing layers would slow a step
/// down by an order of magnitude.
class FlushDenormals {
 public:
#ifdef __SSE2__
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }  // FTZ and DAZ
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#ifdef __SSE2__
  unsigned before_;
#endif
};

}  // namespace sonde::maxwell
