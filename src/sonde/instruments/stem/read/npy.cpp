// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/npy.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/saturate.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {

void apply_array_shape(Acquisition& acquisition, const Shape& shape, const ReadOptions& options,
                       const std::optional<StatedGrid>& line) {
  const int rank = shape.rank();
  const DType dtype = acquisition.stored;
  if (dtype == DType::c64 || dtype == DType::c128)
    throw Error(ErrorKind::not_supported, fmt::format("{}: complex elements are not a scan", acquisition.path));
  if (rank < 2 || rank > 4)
    throw Error(ErrorKind::not_supported, fmt::format("{}: shape {}, expected (Ry, Rx, Qy, Qx) or (frames, Qy, Qx)",
                                                      acquisition.path, shape.text()))
        .hint("store each scan of a series in a file of its own");
  Index bytes = static_cast<Index>(size_bytes(dtype));
  for (int i = 0; i < rank; ++i) bytes = saturating_product(bytes, shape[i]);
  if (bytes == saturated)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} of {} takes more than 2^63 bytes", acquisition.path,
                                                 shape.text(), name(dtype)));
  if (bytes == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} holds nothing", acquisition.path, shape.text()));
  acquisition.rows = shape[rank - 2];
  acquisition.cols = shape[rank - 1];
  ScanFacts facts;
  facts.frames = shape.first(rank - 2).count();
  if (rank == 3) facts.attribute = line;
  if (rank == 4) facts.attribute = StatedGrid{shape[0], shape[1], 0, "the shape of the array"};
  if (rank == 2) facts.attribute = StatedGrid{1, 1, 0, "the shape of the array"};
  apply_scan(acquisition, facts, options);
}

std::unique_ptr<Source> open_npy(const std::string& path, const ReadOptions& options) {
  File file(path);
  const NpyHeader header = read_npy_header(file);
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "NPY";
  acquisition.files = {path};
  acquisition.stored = header.dtype;
  apply_array_shape(acquisition, header.shape, options);
  FrameLayout layout;
  layout.offset = header.data_offset;
  layout.frame_bytes = static_cast<std::size_t>(acquisition.rows * acquisition.cols) * size_bytes(header.dtype);
  return plain_source(std::move(acquisition), FrameBlock(std::move(file), layout), header.big_endian);
}

}  // namespace sonde::stem
