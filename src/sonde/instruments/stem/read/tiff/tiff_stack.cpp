// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/tiff/tiff_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "sonde/engine/base/saturate.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/frame_block.h"
#include "sonde/instruments/stem/read/tiff/tiff_pages.h"
#include "sonde/instruments/stem/read/tiff/tiff_segment.h"

namespace sonde::stem {
namespace {

class TiffSource : public Source {
 public:
  TiffSource(Acquisition acquisition, File file, TiffPages pages) : file_(std::move(file)), pages_(std::move(pages)) {
    acquisition_ = std::move(acquisition);
  }

  [[nodiscard]] std::size_t stored_bytes(Index frame) const override {
    std::size_t bytes = 0;
    for (const TiffSegment& segment : segments_of(frame)) bytes += segment.bytes;
    return bytes;
  }

  void read(Index first, Index last, RawBatch& batch) override {
    batch.first = first;
    batch.pieces.assign(static_cast<std::size_t>(last - first), {});
    std::size_t total = 0;
    for (Index frame = first; frame < last; ++frame) {
      const std::size_t size = stored_bytes(frame);
      batch.pieces[static_cast<std::size_t>(frame - first)] = {total, size, 0};
      total += size;
    }
    if (batch.bytes.size() < total) batch.bytes.resize(total);
    // Segments that follow each other in the file are fetched at once.
    std::size_t to = 0;
    TiffSegment run;
    const auto fetch = [&] {
      if (run.bytes > 0) file_.read_at(run.offset, std::span(batch.bytes).subspan(to - run.bytes, run.bytes));
    };
    for (Index frame = first; frame < last; ++frame)
      for (const TiffSegment& segment : segments_of(frame)) {
        if (segment.offset != run.offset + run.bytes) {
          fetch();
          run = {segment.offset, 0};
        }
        run.bytes += segment.bytes;
        to += segment.bytes;
      }
    fetch();
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    const TiffFrame& shape = pages_.frame;
    const auto stored = batch.frame_bytes(frame);
    const auto segments = segments_of(frame);
    const std::size_t element = size_bytes(shape.dtype);
    const std::size_t row_bytes = static_cast<std::size_t>(shape.cols) * element;
    std::size_t at = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto bytes = stored.subspan(at, segments[i].bytes);
      at += segments[i].bytes;
      const Index row = static_cast<Index>(i) / shape.segments_across() * shape.segment_rows;
      const Index col = static_cast<Index>(i) % shape.segments_across() * shape.segment_cols;
      const Index rows = std::min(shape.segment_rows, shape.rows - row);
      if (shape.segment_cols == shape.cols) {
        // A strip is a part of the frame as it is.
        const auto to =
            elements.subspan(static_cast<std::size_t>(row) * row_bytes, static_cast<std::size_t>(rows) * row_bytes);
        if (!decode_tiff_segment(shape, shape.cols, bytes, to)) throw broken(frame, i);
        continue;
      }
      const std::size_t tile_row_bytes = static_cast<std::size_t>(shape.segment_cols) * element;
      scratch.adapted.resize(static_cast<std::size_t>(shape.segment_rows) * tile_row_bytes);
      if (!decode_tiff_segment(shape, shape.segment_cols, bytes, scratch.adapted)) throw broken(frame, i);
      const std::size_t width = static_cast<std::size_t>(std::min(shape.segment_cols, shape.cols - col)) * element;
      for (Index r = 0; r < rows; ++r)
        std::memcpy(&elements[static_cast<std::size_t>(row + r) * row_bytes + static_cast<std::size_t>(col) * element],
                    &scratch.adapted[static_cast<std::size_t>(r) * tile_row_bytes], width);
    }
  }

 private:
  [[nodiscard]] std::span<const TiffSegment> segments_of(Index frame) const {
    const auto count = static_cast<std::size_t>(pages_.frame.segments());
    return std::span(pages_.segments).subspan(static_cast<std::size_t>(frame) * count, count);
  }
  [[nodiscard]] Error broken(Index frame, std::size_t segment) const {
    return damaged(acquisition_.path, fmt::format("page {}, strip or tile {} (offset {}) does not unpack", frame,
                                                  segment, segments_of(frame)[segment].offset));
  }

  File file_;
  TiffPages pages_;
};

/// "unit=1/nm" of ImageJ's description.
std::string imagej_unit(const std::string& description) {
  if (!description.starts_with("ImageJ=")) return {};
  for (const std::string& line : split(description, '\n'))
    if (line.starts_with("unit=")) return std::string(trim(std::string_view(line).substr(5)));
  return {};
}

/// A strip or tile that unpacks to more than its compression can give is a lie about the size of the frame.
void require_plausible(const TiffPages& pages, const std::string& path) {
  const TiffFrame& frame = pages.frame;
  constexpr double most_ratio = 4096;  // LZW: 4096 bytes by a code of 12 bits; Deflate 1032; PackBits 64
  const double decoded = static_cast<double>(frame.segment_rows) * static_cast<double>(frame.segment_cols) *
                         static_cast<double>(size_bytes(frame.dtype));
  for (const TiffSegment& segment : pages.segments)
    if (frame.compression != TiffCompression::none && decoded > most_ratio * static_cast<double>(segment.bytes + 1))
      throw damaged(path, fmt::format("a strip or tile of {} bytes cannot hold {} x {} pixels", segment.bytes,
                                      frame.segment_rows, frame.segment_cols));
}

}  // namespace

std::unique_ptr<Source> open_tiff_stack(const std::string& path, const ReadOptions& options) {
  File file(path);
  TiffPages pages = read_tiff_pages(file);
  require_plausible(pages, path);
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "TIFF";
  acquisition.files = {path};
  acquisition.stored = pages.frame.dtype;
  acquisition.rows = pages.frame.rows;
  acquisition.cols = pages.frame.cols;
  if (!pages.description.empty()) acquisition.original_metadata["ImageDescription"] = pages.description;
  if (pages.left_out > 0)
    acquisition.notes.push_back(
        {fmt::format("{} pages are left out", pages.left_out), "their size or type differs from that of the first"});
  const std::string unit = imagej_unit(pages.description);
  const auto axis = [&](const std::optional<double>& pixels_per_unit) -> std::optional<AxisScale> {
    if (unit.empty() || !pixels_per_unit) return std::nullopt;
    return AxisScale{1 / *pixels_per_unit, unit};
  };
  take_detector_axes(axis(pages.row_pixels_per_unit), axis(pages.col_pixels_per_unit), acquisition);
  derive_detector_steps(acquisition.calibration);
  ScanFacts facts;
  facts.frames = pages.frames;
  if (const std::vector<Index>& shape = pages.described_shape;
      shape.size() == 4 && saturating_product(shape[0], shape[1]) == pages.frames)
    facts.attribute = StatedGrid{shape[0], shape[1], 0, "the shape in the description"};
  if (pages.frames == 1) facts.attribute = StatedGrid{1, 1, 0, "a single page"};
  apply_scan(acquisition, facts, options);
  return std::make_unique<TiffSource>(std::move(acquisition), std::move(file), std::move(pages));
}

}  // namespace sonde::stem
