// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/npy.h"

namespace sonde::ptycho {
namespace {

std::span<std::byte> bytes_of(Array& array) { return {static_cast<std::byte*>(array.data()), array.allocated_bytes()}; }

/// Whole lines of a raster at once, and pieces of the first and the last, that together are frames
/// [first, first + count).
Array lines_of(const Hdf5Dataset& raster, Index first, Index count) {
  const Shape& all = raster.info().shape;
  Array frames(Device::cpu(), Shape{count, all[2], all[3]}, *raster.info().dtype);
  const std::size_t frame_bytes = frames.allocated_bytes() / static_cast<std::size_t>(count);
  std::span<std::byte> rest = bytes_of(frames);
  for (Index at = first; at < first + count;) {
    const Index col = at % all[1], left = first + count - at;
    const Index lines = col == 0 && left >= all[1] ? left / all[1] : 1;
    const Index cols = std::min(all[1] - col, left);
    const std::size_t bytes = static_cast<std::size_t>(lines * cols) * frame_bytes;
    raster.read_into(Shape{at / all[1], col, 0, 0}, Shape{lines, cols, all[2], all[3]}, rest.first(bytes));
    rest = rest.subspan(bytes);
    at += lines * cols;
  }
  return frames;
}

}  // namespace

ReadFrames frames_of(std::shared_ptr<const Hdf5Dataset> stack) {
  const Hdf5DatasetInfo& info = stack->info();
  if (info.dtype && info.layout != Hdf5DatasetInfo::Layout::virtual_parts)
    require_believable(fmt::format("{}, {}", stack->file_path(), stack->path()),
                       {.items = info.shape.count(),
                        .item_bytes = size_bytes(*info.dtype),
                        .file_bytes = File(stack->file_path()).size(),
                        .packed = !info.filters.empty()});
  if (stack->info().shape.rank() == 4)
    return [stack](Index first, Index count) { return lines_of(*stack, first, count); };
  return [stack](Index first, Index count) {
    const Shape& all = stack->info().shape;
    return stack->read(Shape{first, 0, 0}, Shape{count, all[1], all[2]});
  };
}

Index frames_together(const Hdf5DatasetInfo& stack) {
  if (stack.layout != Hdf5DatasetInfo::Layout::chunked) return 1;
  return stack.shape.rank() == 4 ? stack.chunk[0] * stack.shape[1] : stack.chunk[0];
}

NpyStack npy_stack(const std::string& path) {
  const auto file = std::make_shared<const File>(path);
  NpyHeader header;
  try {
    header = read_npy_header(*file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_supported) throw;
    const Array all = read_npy(path);  // in Fortran order: whole, or an error that says more
    return {all.shape(), all.dtype(), {}};
  }
  NpyStack stack{header.shape, header.dtype, {}};
  if (header.big_endian != (std::endian::native == std::endian::big)) return stack;
  stack.read_frames = [file, header](Index first, Index count) {
    const Shape extent = header.shape.last(2);
    Array frames(Device::cpu(), Shape{count, extent[0], extent[1]}, header.dtype);
    const std::uint64_t frame_bytes = frames.allocated_bytes() / static_cast<std::size_t>(count);
    file->read_at(header.data_offset + static_cast<std::uint64_t>(first) * frame_bytes, bytes_of(frames));
    return frames;
  };
  return stack;
}

}  // namespace sonde::ptycho
