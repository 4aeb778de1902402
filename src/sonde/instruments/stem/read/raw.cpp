// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/raw.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {
namespace {

DType raw_dtype(const ReadOptions& options) {
  static constexpr std::array<std::pair<std::string_view, DType>, 6> known = {{{"u1", DType::u8},
                                                                               {"u2", DType::u16},
                                                                               {"u4", DType::u32},
                                                                               {"i2", DType::i16},
                                                                               {"f4", DType::f32},
                                                                               {"f8", DType::f64}}};
  for (const auto& [name, dtype] : known)
    if (options.raw_dtype == name) return dtype;
  const std::string what = options.raw_dtype.empty()
                               ? "raw frames need an element type"
                               : fmt::format("unknown element type \"{}\" of raw frames", options.raw_dtype);
  throw Error(ErrorKind::usage, what).hint("give " + setting("raw_dtype") + " u1, u2, u4, i2, f4 or f8");
}

Shape raw_shape(const ReadOptions& options) {
  Shape shape;
  bool positive = true;
  for (const Index extent : options.raw_shape) {
    positive = positive && extent > 0;
    if (positive && shape.rank() < Shape::max_rank) shape.append(extent);
  }
  if (!positive || (options.raw_shape.size() != 4 && options.raw_shape.size() != 2))
    throw Error(ErrorKind::usage, fmt::format("raw_shape {}: expected four positive numbers, or two for the detector",
                                              fmt::join(options.raw_shape, ",")))
        .hint("for instance " + setting("raw_shape", "256,256,128,128") +
              " for scan rows, scan columns, detector rows, detector columns");
  return shape;
}

}  // namespace

std::unique_ptr<Source> open_raw(const std::string& path, const ReadOptions& options) {
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "raw";
  acquisition.files = {path};
  acquisition.stored = raw_dtype(options);
  const Shape shape = raw_shape(options);
  const Shape detector = shape.last(2);
  acquisition.rows = detector[0];
  acquisition.cols = detector[1];

  File file(path);
  FrameLayout layout;
  layout.offset = options.raw_offset;
  layout.gap_bytes = options.raw_gap;
  const auto elements = static_cast<std::uint64_t>(detector.count());
  if (elements > file.size())
    throw Error(ErrorKind::bad_file, fmt::format("{}: has {} bytes, a frame of {} does not fit into it", path,
                                                 file.size(), detector.text()));
  layout.frame_bytes = elements * size_bytes(acquisition.stored);
  FrameBlock block(std::move(file), layout);
  block.check_rest(options, acquisition);
  ScanFacts facts;
  facts.frames = block.frames();
  if (shape.rank() == 4) facts.attribute = StatedGrid{shape[0], shape[1], 0, "raw_shape"};
  apply_scan(acquisition, facts, options);
  return plain_source(std::move(acquisition), std::move(block), options.raw_big_endian);
}

}  // namespace sonde::stem
