// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/blo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {
namespace {

constexpr std::uint16_t pattern_marker = 0x55aa;
constexpr std::size_t pattern_head_bytes = 6;  // the marker and a 32-bit number

class BloSource : public Source {
 public:
  BloSource(Acquisition acquisition, FrameBlock block) : block_(std::move(block)) {
    acquisition_ = std::move(acquisition);
  }
  [[nodiscard]] std::size_t stored_bytes(Index) const override { return block_.stored_bytes(); }
  void read(Index first, Index last, RawBatch& batch) override { block_.read(first, last, batch); }
  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    const auto bytes = batch.frame_bytes(frame);
    assert(bytes.size() == elements.size() + pattern_head_bytes);
    if (load_little<std::uint16_t>(bytes.data()) != pattern_marker)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: pattern {} does not begin with its marker", acquisition_.path, frame))
          .hint("the file may be damaged");
    std::memcpy(elements.data(), &bytes[pattern_head_bytes], elements.size());
  }

 private:
  FrameBlock block_;
};

std::optional<Quantity> positive(double value) {
  if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
  return Quantity{value, StatedBy::file};
}

}  // namespace

BloHeader parse_blo_header(std::span<const std::byte> start, const std::string& name) {
  constexpr std::string_view magic = "IMGBLO";
  if (start.size() < BloHeader::bytes || std::memcmp(start.data(), magic.data(), magic.size()) != 0 ||
      load_little<std::uint16_t>(&start[6]) != 0x0102)
    throw Error(ErrorKind::bad_file, name + ": not a BLO file");
  const auto half = [&](std::size_t at) { return load_little<std::uint16_t>(&start[at]); };
  const auto word = [&](std::size_t at) { return load_little<std::uint32_t>(&start[at]); };
  const auto real = [&](std::size_t at) { return std::bit_cast<double>(load_little<std::uint64_t>(&start[at])); };
  BloHeader header;
  header.patterns_offset = word(12);
  header.size = half(20);
  header.scan_cols = half(24);
  header.scan_rows = half(26);
  header.step_col_nm = real(30);
  header.step_row_nm = real(38);
  header.high_tension_v = word(46);
  header.camera_length_m = 1e-4 * word(52);  // stored in tenths of a millimetre
  if (header.size == 0 || header.scan_cols == 0 || header.scan_rows == 0)
    throw Error(ErrorKind::bad_file, fmt::format("{}: a scan of {} x {} patterns of {} x {} pixels", name,
                                                 header.scan_rows, header.scan_cols, header.size, header.size));
  return header;
}

std::unique_ptr<Source> open_blo(const std::string& path, const ReadOptions& options) {
  File file(path);
  std::array<std::byte, BloHeader::bytes> start{};
  if (file.size() < start.size()) throw Error(ErrorKind::bad_file, path + ": not a BLO file");
  file.read_at(0, start);
  const BloHeader header = parse_blo_header(start, path);

  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "BLO";
  acquisition.files = {path};
  acquisition.stored = DType::u8;
  acquisition.rows = acquisition.cols = header.size;
  acquisition.calibration.high_tension_v = positive(header.high_tension_v);
  acquisition.calibration.camera_length_m = positive(header.camera_length_m);
  acquisition.calibration.scan_step_col_nm = positive(header.step_col_nm);
  acquisition.calibration.scan_step_row_nm = positive(header.step_row_nm);
  acquisition.original_metadata = {{"NX", fmt::to_string(header.scan_cols)},
                                   {"NY", fmt::to_string(header.scan_rows)},
                                   {"DP_SZ", fmt::to_string(header.size)},
                                   {"SX", fmt::to_string(header.step_col_nm)},
                                   {"SY", fmt::to_string(header.step_row_nm)},
                                   {"Beam_energy", fmt::to_string(header.high_tension_v)},
                                   {"Camera_length", fmt::to_string(load_little<std::uint32_t>(&start[52]))}};

  FrameLayout layout;
  layout.offset = header.patterns_offset;
  layout.frame_bytes = pattern_head_bytes + static_cast<std::size_t>(header.size * header.size);
  FrameBlock block(std::move(file), layout);
  const Index expected = header.scan_rows * header.scan_cols;
  if (block.frames() > expected || (block.frames() == expected && block.rest_bytes() > 0))
    acquisition.notes.push_back(
        {"bytes behind the last pattern are left out", fmt::format("the header describes {} patterns", expected)});
  else
    block.check_rest(options, acquisition);
  ScanFacts facts;
  facts.frames = std::min(block.frames(), expected);
  facts.attribute = StatedGrid{header.scan_rows, header.scan_cols, 0, "the header"};
  apply_scan(acquisition, facts, options);
  return std::make_unique<BloSource>(std::move(acquisition), std::move(block));
}

}  // namespace sonde::stem
