// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde::stem {

/// planes(q, first_position + k) = frames(k, q) for the n = frames.extent[0] frames of one worker's scratch, narrowed
/// to Out. In and Out are one of u8, u16, u32, f32, or (u16 to u8, u32 to u8, u32 to u16) when the caller has made sure
/// that every value fits; a value that does not is stored as an unspecified one. Frames are dense (frames.stride[1] ==
/// 1), planes too. Best with n a multiple of 64 / sizeof(Out) and planes at multiples of 64 bytes: whole cache lines
/// then leave past the caches, and every plane byte is written once. Any n, any first_position is right. Reads the
/// frames once, in tiles of 64 by 64 bytes; scratch that fits the second-level cache is read from there. For use inside
/// parallel_for: allocates nothing, uses one thread, and ends with a store fence. Calls for disjoint positions may run
/// at the same time.
template <class In, class Out>
void place_frames(View<const In, 2> frames, View<Out, 2> planes, Index first_position);

/// The same without narrowing on the stream's device, where both lie; on a GPU it is queued to the stream.
template <class T>
void place_frames(Stream& stream, View<const T, 2> frames, View<T, 2> planes, Index first_position);

/// frame(q) = planes(q, position), both on the stream's device and dense in their last dimension.
template <class T>
void gather_frame(Stream& stream, View<const T, 2> planes, Index position, View<T, 1> frame);

/// planes = frames transposed: (R, rows, cols) to (rows * cols, R), see Layout. Element types as for place_frames, or
/// equal. Frames may be strided. Throws Error(bad_input) when shapes or types do not belong together. Reads and writes
/// every element once, on all threads.
void to_pixel_major(Stream& stream, const Array& frames, Array& planes);

/// The way back, without narrowing: (rows * cols, R) to (R, rows, cols), both dense in their last dimension.
void to_frame_major(Stream& stream, const Array& planes, Array& frames);

}  // namespace sonde::stem
