// SPDX-License-Identifier: Apache-2.0
// Private: what diffraction needs beyond the sums over planes and frames. T is u8, u16, u32 or float.
#pragma once

#include <span>

#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

namespace cpu {
/// pattern(pixel) = largest scan(position, pixel) over the positions, zero for none; any strides.
template <class T>
void pattern_maximum(View<const T, 2> scan, std::span<const Index> positions, View<T, 1> pattern);
void divide(View<double, 1> values, double divisor);
}  // namespace cpu

namespace cuda {
template <class T>
void pattern_maximum(Stream& stream, View<const T, 2> scan, std::span<const Index> positions, View<T, 1> pattern);
void divide(Stream& stream, View<double, 1> values, double divisor);
}  // namespace cuda

}  // namespace sonde::stem
