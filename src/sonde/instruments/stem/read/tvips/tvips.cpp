// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/tvips/tvips.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/frame_files.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t series_header_bytes = 256;
constexpr std::uint32_t diffraction = 2;

/// The series header: little-endian 32-bit numbers, then a text that fills 256 bytes.
struct TvipsHeader {
  std::uint32_t bytes = 0, version = 0, cols = 0, rows = 0, bits = 0;
  std::uint32_t bin_x = 0, bin_y = 0, pixel_nm = 0, high_tension = 0, total_magnification = 0;
  std::size_t frame_header_bytes = 0;
  std::uint32_t mode = 0;  ///< of the first frame: 1 image, 2 diffraction
};

TvipsHeader read_header(const File& file) {
  FileCursor cursor(file);
  const auto next = [&] { return cursor.little<std::uint32_t>("the series header"); };
  cursor.require(series_header_bytes, "the series header");
  TvipsHeader header;
  header.bytes = next();
  header.version = next();
  header.cols = next();
  header.rows = next();
  header.bits = next();
  cursor.skip(8, "the series header");  // position of the picture on the chip
  header.bin_x = next();
  header.bin_y = next();
  header.pixel_nm = next();
  header.high_tension = next();
  header.total_magnification = next();
  header.frame_header_bytes = next();
  constexpr std::uint32_t most_pixels = 1 << 15, most_header_bytes = 1 << 20;
  if (header.bytes < series_header_bytes || header.bytes > most_header_bytes)
    throw damaged(file.path(), fmt::format("a series header of {} bytes; expected {} to {}", header.bytes,
                                           series_header_bytes, most_header_bytes));
  if (header.version == 1)
    header.frame_header_bytes = 12;  // this version does not state it
  else if (header.version != 2)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: TVIPS version {}; versions 1 and 2 are read", file.path(), header.version))
        .hint("convert it to HDF5, for instance with RosettaSciIO");
  if (header.bits != 8 && header.bits != 16)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} bits per pixel; 8 and 16 are read", file.path(), header.bits))
        .hint("convert it to HDF5, for instance with RosettaSciIO");
  if (header.cols == 0 || header.rows == 0 || header.cols > most_pixels || header.rows > most_pixels)
    throw damaged(file.path(),
                  fmt::format("frames of {} x {} pixels; expected 1 to {}", header.rows, header.cols, most_pixels));
  if (header.frame_header_bytes < 12 || header.frame_header_bytes > most_header_bytes)
    throw damaged(file.path(), fmt::format("frame headers of {} bytes; expected 12 to {}", header.frame_header_bytes,
                                           most_header_bytes));
  if (header.frame_header_bytes >= 28) {
    // Number, time and milliseconds, colour table, beam current and magnification stand before the mode.
    cursor.seek(header.bytes);
    cursor.skip(24, "the first frame header");
    header.mode = next();
  }
  return header;
}

/// Where the number of a part stands in "NAME_000.tvips": the three digits.
std::optional<std::size_t> digits_in(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (path.size() < extension.size() + 4) return std::nullopt;
  const std::size_t at = path.size() - extension.size() - 3;
  const bool digits =
      std::all_of(path.begin() + static_cast<std::ptrdiff_t>(at), path.begin() + static_cast<std::ptrdiff_t>(at) + 3,
                  [](char c) { return c >= '0' && c <= '9'; });
  return digits && path[at - 1] == '_' ? std::optional(at) : std::nullopt;
}

/// The files of the recording, the first one first.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts = {path};
  const auto digits = digits_in(path);
  if (!digits || path.substr(*digits, 3) != "000") return parts;
  for (int number = 1; number < 1000; ++number) {
    std::string next = path;
    next.replace(*digits, 3, fmt::format("{:03}", number));
    std::error_code ignored;
    if (!fs::is_regular_file(next, ignored)) break;
    parts.push_back(std::move(next));
  }
  return parts;
}

class TvipsSource : public Source {
 public:
  TvipsSource(Acquisition acquisition, FrameFiles files, std::size_t header_bytes)
      : files_(std::move(files)), header_bytes_(header_bytes) {
    acquisition_ = std::move(acquisition);
  }
  [[nodiscard]] std::size_t stored_bytes(Index) const override { return files_.stored_bytes(); }
  void read(Index first, Index last, RawBatch& batch) override { files_.read(first, last, batch); }
  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    std::memcpy(elements.data(), batch.frame_bytes(frame).data() + header_bytes_, elements.size());
  }

 private:
  FrameFiles files_;
  std::size_t header_bytes_;
};

void take_calibration(const TvipsHeader& header, Acquisition& acquisition) {
  if (header.high_tension > 0) {
    // Written in V by some versions of the camera's program and in kV by others; no electron microscope uses 3 kV.
    constexpr std::uint32_t most_kv = 3000;
    const double volts = header.high_tension <= most_kv ? 1e3 * header.high_tension : header.high_tension;
    acquisition.calibration.high_tension_v = Quantity{volts, StatedBy::file};
  }
  // Pixels of cameras measure some micrometres. Other programs write the step of the axis here, without a unit.
  constexpr std::uint32_t least_nm = 1000;
  if (header.pixel_nm >= least_nm)
    acquisition.calibration.detector_pixel_m =
        Quantity{1e-9 * header.pixel_nm * std::max<std::uint32_t>(header.bin_x, 1), StatedBy::file};
  if (header.total_magnification > 0)
    acquisition.notes.push_back(
        {fmt::format("the camera length or magnification of {} is not used", header.total_magnification),
         "the file does not state its unit; camera_length gives it"});
  if (header.mode == 1)
    acquisition.notes.push_back({"the frames were recorded in imaging mode", "the header of the first frame says so"});
  acquisition.original_metadata = {{"tvips/version", fmt::to_string(header.version)},
                                   {"tvips/bitsperpixel", fmt::to_string(header.bits)},
                                   {"tvips/binx", fmt::to_string(header.bin_x)},
                                   {"tvips/biny", fmt::to_string(header.bin_y)},
                                   {"tvips/pixelsize", fmt::to_string(header.pixel_nm)},
                                   {"tvips/ht", fmt::to_string(header.high_tension)},
                                   {"tvips/magtotal", fmt::to_string(header.total_magnification)},
                                   {"tvips/mode", header.mode == diffraction ? "diffraction" : "image"}};
}

}  // namespace

std::unique_ptr<Source> open_tvips(const std::string& path, const ReadOptions& options) {
  if (const auto digits = digits_in(path); digits && path.substr(*digits, 3) != "000") {
    std::string first = path;
    first.replace(*digits, 3, "000");
    throw Error(ErrorKind::bad_input, path + ": a later part of a TVIPS recording; expected its first part")
        .hint("open " + first);
  }
  TvipsHeader header;
  {
    const File file(path);
    header = read_header(file);
  }
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "TVIPS";
  acquisition.files = parts_of(path);
  acquisition.stored = header.bits == 8 ? DType::u8 : DType::u16;
  acquisition.rows = header.rows;
  acquisition.cols = header.cols;

  std::vector<FrameFiles::Part> parts;
  Index frames = 0;
  for (const std::string& each : acquisition.files) {
    FrameLayout layout;
    layout.offset = parts.empty() ? header.bytes : 0;
    layout.frame_bytes = header.frame_header_bytes +
                         static_cast<std::size_t>(header.rows) * header.cols * size_bytes(acquisition.stored);
    const FrameBlock block(File(each), layout);
    block.check_rest(options, acquisition);
    frames += block.frames();
    parts.push_back({each, layout, block.frames()});
  }
  take_calibration(header, acquisition);
  ScanFacts facts;
  facts.frames = frames;
  apply_scan(acquisition, facts, options);
  return std::make_unique<TvipsSource>(std::move(acquisition), FrameFiles(std::move(parts)), header.frame_header_bytes);
}

}  // namespace sonde::stem
