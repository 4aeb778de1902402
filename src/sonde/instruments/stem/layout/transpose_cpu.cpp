// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sonde/engine/device/device.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem {
namespace {

template <class In, class Out>
void plain_lines(const std::byte* in, Index in_stride, Index cols, std::byte* out, Index out_stride, bool) {
  constexpr Index rows = line_bytes / static_cast<Index>(sizeof(Out));
  for (Index col = 0; col < cols; ++col) {
    auto* line = reinterpret_cast<Out*>(out + col * out_stride);
    for (Index row = 0; row < rows; ++row)
      line[row] = static_cast<Out>(reinterpret_cast<const In*>(in + row * in_stride)[col]);
  }
}

template <class In, class Out>
TransposeLines choose(const TransposeKernels& kernels) {
  if constexpr (sizeof(In) == 1) return kernels.u8;
  if constexpr (sizeof(In) == 2) return sizeof(Out) == 2 ? kernels.u16 : kernels.u16_to_u8;
  return sizeof(Out) == 4 ? kernels.u32 : sizeof(Out) == 2 ? kernels.u32_to_u16 : kernels.u32_to_u8;
}

/// What is left at the edges, one element at a time.
template <class In, class Out>
void place_edge(View<const In, 2> in, View<Out, 2> out, Index first_row, Index last_row, Index first_col,
                Index first_position) {
  for (Index col = first_col; col < in.extent[1]; ++col) {
    Out* line = out.data + col * out.stride[0] + first_position;
    for (Index row = first_row; row < last_row; ++row) line[row] = static_cast<Out>(in.data[row * in.stride[0] + col]);
  }
}

}  // namespace

const TransposeKernels& transpose_kernels_plain() {
  using std::uint16_t, std::uint32_t, std::uint8_t;
  static constexpr TransposeKernels kernels = {"plain",
                                               plain_lines<uint8_t, uint8_t>,
                                               plain_lines<uint16_t, uint16_t>,
                                               plain_lines<uint32_t, uint32_t>,
                                               plain_lines<uint16_t, uint8_t>,
                                               plain_lines<uint32_t, uint8_t>,
                                               plain_lines<uint32_t, uint16_t>};
  return kernels;
}

std::vector<const TransposeKernels*> usable_transpose_kernels() {
  std::vector<const TransposeKernels*> usable = {&transpose_kernels_plain()};
#ifdef SONDE_TRANSPOSE_X86
  if (Device::cpu().info().can.avx2) usable.push_back(&transpose_kernels_avx2());
  if (Device::cpu().info().can.avx512) usable.push_back(&transpose_kernels_avx512());
#endif
  return usable;
}

const TransposeKernels& best_transpose_kernels() {
  static const TransposeKernels& best = *usable_transpose_kernels().back();
  return best;
}

template <class In, class Out>
void place_rows(const TransposeKernels& kernels, View<const In, 2> rows, View<Out, 2> out, Index first_col) {
  static_assert(std::is_same_v<In, Out> ||
                (std::is_unsigned_v<In> && std::is_unsigned_v<Out> && sizeof(Out) < sizeof(In)));
  assert(rows.stride[1] == 1 && out.stride[1] == 1);
  assert(rows.extent[1] == out.extent[0] && first_col + rows.extent[0] <= out.extent[1]);
  constexpr Index line = line_bytes / static_cast<Index>(sizeof(Out));
  const TransposeLines lines = choose<In, Out>(kernels);
  const Index tiled_cols = rows.extent[1] / line * line;
  const Index in_stride = rows.stride[0] * static_cast<Index>(sizeof(In));
  const Index out_stride = out.stride[0] * static_cast<Index>(sizeof(Out));
  Index row = 0;
  for (; row + line <= rows.extent[0]; row += line) {
    Out* to = out.data + first_col + row;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % line_bytes == 0 && out_stride % line_bytes == 0;
    if (tiled_cols > 0)
      lines(reinterpret_cast<const std::byte*>(rows.data + row * rows.stride[0]), in_stride, tiled_cols,
            reinterpret_cast<std::byte*>(to), out_stride, aligned);
    place_edge(rows, out, row, row + line, tiled_cols, first_col);
  }
  place_edge(rows, out, row, rows.extent[0], 0, first_col);
}

template <class In, class Out>
void place_frames(View<const In, 2> frames, View<Out, 2> planes, Index first_position) {
  place_rows(best_transpose_kernels(), frames, planes, first_position);
}

namespace cpu {

template <class In, class Out>
void transpose(View<const In, 2> in, View<Out, 2> out) {
  // 64 rows make whole cache lines of every element size, and 64 detector rows of 192 u16 pixels fit the second level.
  parallel_for(in.extent[0], 64, [&](Index first, Index last, Worker&) {
    View<const In, 2> rows = in;
    rows.data += first * in.stride[0];
    rows.extent[0] = last - first;
    place_rows(best_transpose_kernels(), rows, out, first);
  });
}

template <class In, class Out>
void transpose_strided(View<const In, 3> frames, View<Out, 2> planes) {
  parallel_for(frames.extent[0], 64, [&](Index first, Index last, Worker&) {
    for (Index row = 0; row < frames.extent[1]; ++row)
      for (Index col = 0; col < frames.extent[2]; ++col) {
        const View<Out, 1> plane = planes[row * frames.extent[2] + col];
        for (Index position = first; position < last; ++position)
          plane[position] = static_cast<Out>(frames(position, row, col));
      }
  });
}

}  // namespace cpu

#define SONDE_INSTANTIATE(In, Out)                                                                    \
  template void place_rows<In, Out>(const TransposeKernels&, View<const In, 2>, View<Out, 2>, Index); \
  template void place_frames<In, Out>(View<const In, 2>, View<Out, 2>, Index);                        \
  template void cpu::transpose<In, Out>(View<const In, 2>, View<Out, 2>);                             \
  template void cpu::transpose_strided<In, Out>(View<const In, 3>, View<Out, 2>)
SONDE_INSTANTIATE(std::uint8_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t, std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint32_t);
SONDE_INSTANTIATE(float, float);
SONDE_INSTANTIATE(std::uint16_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint8_t);
SONDE_INSTANTIATE(std::uint32_t, std::uint16_t);
#undef SONDE_INSTANTIATE

}  // namespace sonde::stem
