// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mrc/mrc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/small_float.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/frame_block.h"
#include "sonde/instruments/stem/read/mrc/de_movie.h"
#include "sonde/instruments/stem/read/mrc/mrc_header.h"

namespace sonde::stem {
namespace {

class MrcSource : public Source {
 public:
  MrcSource(Acquisition acquisition, FrameBlock block, const MrcHeader& header, std::vector<Index> frame_of)
      : block_(std::move(block)), big_endian_(header.big_endian), half_(header.half), frame_of_(std::move(frame_of)) {
    acquisition_ = std::move(acquisition);
  }

  [[nodiscard]] std::size_t stored_bytes(Index) const override { return block_.stored_bytes(); }

  void read(Index first, Index last, RawBatch& batch) override {
    if (frame_of_.empty()) return block_.read(first, last, batch);
    const std::size_t size = block_.stored_bytes();
    const auto count = static_cast<std::size_t>(last - first);
    batch.first = first;
    batch.pieces.resize(count);
    if (batch.bytes.size() < count * size) batch.bytes.resize(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      batch.pieces[i] = {i * size, size, 0};
      block_.read_frame(frame_of_[static_cast<std::size_t>(first) + i], std::span(batch.bytes).subspan(i * size, size));
    }
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    const auto bytes = batch.frame_bytes(frame);
    if (!half_) {
      assert(bytes.size() == elements.size());
      std::memcpy(elements.data(), bytes.data(), elements.size());
      if (big_endian_) swap_bytes(elements, size_bytes(acquisition_.stored));
      return;
    }
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      const std::uint16_t bits =
          big_endian_ ? load_big<std::uint16_t>(&bytes[2 * i]) : load_little<std::uint16_t>(&bytes[2 * i]);
      const float value = from_fp16(bits);
      std::memcpy(&elements[4 * i], &value, sizeof value);
    }
  }

 private:
  FrameBlock block_;
  bool big_endian_, half_;
  std::vector<Index> frame_of_;  ///< stored frame of each position, when the scan was no raster
};

}  // namespace

std::unique_ptr<Source> open_mrc(const std::string& path, const ReadOptions& options) {
  File file(path);
  MrcHeader header = read_mrc_header(file);
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "MRC";
  acquisition.files = {path};
  acquisition.stored = header.dtype;
  acquisition.rows = header.rows;
  acquisition.cols = header.cols;
  acquisition.calibration = header.calibration;
  acquisition.original_metadata = std::move(header.metadata);

  FrameLayout layout;
  layout.offset = header.data_offset;
  layout.frame_bytes = static_cast<std::size_t>(header.rows * header.cols) * header.stored_element_bytes();
  FrameBlock block(std::move(file), layout);
  if (block.frames() < header.frames) {
    const std::string fact = fmt::format("{} whole frames, the header says {}", block.frames(), header.frames);
    if (!options.allow_incomplete && !options.drop_extra) {
      Error error = damaged(path, fact);
      throw error.hint("the copy may be incomplete; " + setting("allow_incomplete") + " reads what is there");
    }
    acquisition.notes.push_back({"the end of the file is missing", fact});
  } else if (block.frames() > header.frames || block.rest_bytes() > 0) {
    acquisition.notes.push_back(
        {"bytes behind the last frame are left out", fmt::format("the header describes {} frames", header.frames)});
  }
  ScanFacts facts;
  facts.frames = std::min(block.frames(), header.frames);

  std::vector<Index> frame_of;
  if (auto movie = read_de_movie(path, facts.frames)) {
    for (auto& [key, value] : movie->metadata) acquisition.original_metadata["info/" + key] = std::move(value);
    acquisition.calibration = movie->calibration;
    for (auto& note : movie->notes) acquisition.notes.push_back(std::move(note));
    facts.attribute = movie->grid;
    if (!movie->unordered.empty() && !options.scan_rows && !options.scan_cols)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames at positions that do not fill a grid once ({})",
                                                    path, facts.frames, movie->unordered))
          .hint(fmt::format("{} reads them in the order of time",
                            setting("scan_shape", fmt::format("1,{}", facts.frames))));
    // The user may want the frames in the order of time: then they are in a shape of his.
    if (movie->visited && !options.scan_rows && !options.scan_cols) {
      facts.attribute = StatedGrid{movie->visited->rows, movie->visited->cols, 0, "the scan coordinates"};
      acquisition.notes.push_back({"frames are sorted by their positions", "the scan was no raster"});
      frame_of = std::move(movie->visited->frame_of);
    }
  }
  derive_detector_steps(acquisition.calibration);
  apply_scan(acquisition, facts, options);
  return std::make_unique<MrcSource>(std::move(acquisition), std::move(block), header, std::move(frame_of));
}

}  // namespace sonde::stem
