// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mib.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "MQ1,";
constexpr Index chip_pixels = 256;

std::optional<Index> number(std::string_view text) {
  Index value = 0;
  const std::string_view digits = trim(text);
  const auto [rest, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc() || rest != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// The comma-separated fields of the first header.
class Fields {
 public:
  Fields(std::span<const std::byte> start, const std::string& name) : name_(name) {
    const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
    if (!text.starts_with(magic)) throw Error(ErrorKind::bad_file, name + ": not a MIB file");
    fields_ = split(text.substr(0, text.find('\0')), ',');
    constexpr std::size_t fewest = 9;
    if (fields_.size() < fewest) throw Error(ErrorKind::bad_file, name + ": its first MIB header is too short");
  }
  [[nodiscard]] Index count(std::size_t field, const char* meaning, Index most) const {
    const auto value = number(fields_[field]);
    if (!value || *value < 1 || *value > most)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: MIB header: {} is \"{}\", expected 1 to {}", name_, meaning, fields_[field], most));
    return *value;
  }
  [[nodiscard]] std::string_view text(std::size_t field) const { return trim(fields_[field]); }
  /// The third field of the extension MQ1A (time, exposure, counter depth) at the end of newer headers.
  [[nodiscard]] std::optional<Index> counter_depth() const {
    const auto extension = std::find(fields_.begin(), fields_.end(), "MQ1A");
    return fields_.end() - extension > 3 ? number(extension[3]) : std::nullopt;
  }

 private:
  const std::string& name_;
  std::vector<std::string> fields_;
};

void set_raw_packing(const Fields& fields, const std::map<std::string, std::string>& sidecar, MibHeader& header,
                     const std::string& name) {
  std::optional<Index> depth = fields.counter_depth();
  const auto line = sidecar.find("Counter Depth (number)");
  if (!depth && line != sidecar.end()) depth = number(line->second);
  if (!depth)
    throw Error(ErrorKind::bad_file, name + ": raw frames whose counter depth is not recorded")
        .hint("put the .hdr file of the acquisition beside it");
  const std::string_view layout = fields.text(7);
  const bool one_chip = layout == "1x1",
             four_chips = layout == "2x2" && fields.count(3, "the number of chips", 99) == 4;
  if ((*depth != 1 && *depth != 6 && *depth != 12) || (!one_chip && !four_chips))
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: raw frames of counter depth {} in layout {} are not read", name, *depth, layout))
        .hint("record without the raw option, or convert with the detector's software");
  const Index stored_rows = header.rows, stored_cols = header.cols;
  const Index width = four_chips ? 4 * chip_pixels : 64;
  if (stored_cols % width != 0 || (four_chips && stored_cols != width))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: raw rows of {} pixels cannot be those of layout {}", name, stored_cols, layout));
  header.packing = *depth == 1 ? MibPacking::bits : *depth == 6 ? MibPacking::bytes : MibPacking::half_words;
  header.dtype = *depth == 12 ? DType::u16 : DType::u8;
  const auto pixels = static_cast<std::size_t>(stored_rows * stored_cols);
  header.payload_bytes = *depth == 1 ? pixels / 8 : *depth == 6 ? pixels : 2 * pixels;
  header.four_chips_in_a_row = four_chips;
  if (four_chips) {
    header.rows = 2 * stored_rows;
    header.cols = stored_cols / 2;
  }
}

/// The pixels of one stored row by their number, whatever the packing.
template <MibPacking packing>
auto pixel(const std::byte* row, Index k) {
  const auto at = static_cast<std::size_t>(k);
  if constexpr (packing == MibPacking::bits) {
    const std::byte eight = row[at / 64 * 8 + 7 - at % 64 / 8];
    return static_cast<std::uint8_t>((eight >> (at % 8)) & std::byte{1});
  } else if constexpr (packing == MibPacking::bytes) {
    return static_cast<std::uint8_t>(row[at / 8 * 8 + 7 - at % 8]);
  } else {
    return load_big<std::uint16_t>(row + 2 * (at / 4 * 4 + 3 - at % 4));
  }
}

template <MibPacking packing>
void unpack(const MibHeader& header, std::span<const std::byte> payload, std::span<std::byte> elements) {
  using T = decltype(pixel<packing>(nullptr, 0));
  const auto put = [&](Index row, Index col, T value) {
    std::memcpy(&elements[static_cast<std::size_t>(row * header.cols + col) * sizeof(T)], &value, sizeof(T));
  };
  const Index stored_rows = header.four_chips_in_a_row ? header.rows / 2 : header.rows;
  const std::size_t row_bytes = payload.size() / static_cast<std::size_t>(stored_rows);
  for (Index r = 0; r < stored_rows; ++r) {
    const std::byte* row = payload.data() + static_cast<std::size_t>(r) * row_bytes;
    if (!header.four_chips_in_a_row) {
      for (Index c = 0; c < header.cols; ++c) put(r, c, pixel<packing>(row, c));
      continue;
    }
    const Index half = header.cols / 2, lower = header.rows - 1 - r;
    for (Index c = 0; c < half; ++c) {
      put(lower, header.cols - 1 - c, pixel<packing>(row, c));
      put(lower, half - 1 - c, pixel<packing>(row, half + c));
      put(r, half + c, pixel<packing>(row, 2 * half + c));
      put(r, c, pixel<packing>(row, 3 * half + c));
    }
  }
}

class MibSource : public Source {
 public:
  MibSource(Acquisition acquisition, FrameBlock block, const MibHeader& header)
      : block_(std::move(block)), header_(header) {
    acquisition_ = std::move(acquisition);
  }
  [[nodiscard]] std::size_t stored_bytes(Index) const override { return block_.stored_bytes(); }
  void read(Index first, Index last, RawBatch& batch) override { block_.read(first, last, batch); }
  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    const auto bytes = batch.frame_bytes(frame);
    if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: frame {} does not begin with a MIB header", acquisition_.path, frame))
          .hint("the file may be damaged, or hold frames of several sizes");
    decode_mib(header_, bytes.subspan(header_.header_bytes), elements);
  }

 private:
  FrameBlock block_;
  MibHeader header_;
};

/// The lines of the text file beside a scan; none when there is no such file.
std::map<std::string, std::string> sidecar_of(const std::string& path) {
  for (const char* extension : {".hdr", ".HDR"}) {
    const std::string candidate = fs::path(path).replace_extension(extension).string();
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return parse_mib_sidecar(read_text(candidate));
  }
  return {};
}

/// A trigger starts a row, when there are several of several frames.
std::optional<StatedGrid> grid_of(const std::map<std::string, std::string>& sidecar, Index frames) {
  const auto value = [&](const char* key) {
    const auto line = sidecar.find(key);
    return line == sidecar.end() ? 0 : number(line->second).value_or(0);
  };
  const Index total = value("Frames in Acquisition (Number)"), cols = value("Frames per Trigger (Number)");
  if (cols <= 1 || total <= cols || total % cols != 0 || total != frames) return std::nullopt;
  return StatedGrid{total / cols, cols, 0, "the .hdr file"};
}

}  // namespace

std::map<std::string, std::string> parse_mib_sidecar(const std::string& text) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t tab = line.find(":\t");
    if (tab != std::string::npos) lines.emplace(trim(line.substr(0, tab)), trim(line.substr(tab + 2)));
  }
  return lines;
}

MibHeader parse_mib_header(std::span<const std::byte> start, const std::map<std::string, std::string>& sidecar,
                           const std::string& name) {
  const Fields fields(start, name);
  MibHeader header;
  constexpr Index most_header_bytes = 1 << 16, most_pixels = 1 << 14;
  header.header_bytes = static_cast<std::size_t>(fields.count(2, "its length", most_header_bytes));
  header.cols = fields.count(4, "the number of columns", most_pixels);
  header.rows = fields.count(5, "the number of rows", most_pixels);
  if (header.header_bytes < magic.size())
    throw Error(ErrorKind::bad_file, fmt::format("{}: a MIB header of {} bytes", name, header.header_bytes));
  const std::string_view depth = fields.text(6);
  if (depth == "R64") {
    set_raw_packing(fields, sidecar, header, name);
    return header;
  }
  if (depth == "U08" || depth == "U8")
    header.dtype = DType::u8;
  else if (depth == "U16")
    header.dtype = DType::u16;
  else if (depth == "U32")
    header.dtype = DType::u32;
  else
    throw Error(ErrorKind::not_supported, fmt::format("{}: MIB pixels of type \"{}\" are not read", name, depth));
  header.payload_bytes = static_cast<std::size_t>(header.rows * header.cols) * size_bytes(header.dtype);
  return header;
}

void decode_mib(const MibHeader& header, std::span<const std::byte> payload, std::span<std::byte> elements) {
  assert(payload.size() == header.payload_bytes);
  assert(elements.size() == static_cast<std::size_t>(header.rows * header.cols) * size_bytes(header.dtype));
  switch (header.packing) {
    case MibPacking::big_endian:
      std::memcpy(elements.data(), payload.data(), elements.size());
      return swap_bytes(elements, size_bytes(header.dtype));
    case MibPacking::bits:
      return unpack<MibPacking::bits>(header, payload, elements);
    case MibPacking::bytes:
      return unpack<MibPacking::bytes>(header, payload, elements);
    case MibPacking::half_words:
      return unpack<MibPacking::half_words>(header, payload, elements);
  }
}

std::unique_ptr<Source> open_mib(const std::string& path, const ReadOptions& options) {
  File file(path);
  std::vector<std::byte> start(std::min<std::uint64_t>(file.size(), 4096));
  file.read_at(0, start);
  const std::map<std::string, std::string> sidecar = sidecar_of(path);
  const MibHeader header = parse_mib_header(start, sidecar, path);

  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "MIB";
  acquisition.files = {path};
  acquisition.stored = header.dtype;
  acquisition.rows = header.rows;
  acquisition.cols = header.cols;
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  acquisition.original_metadata["MQ1"] = std::string(text.substr(0, text.find('\0')));
  for (const auto& [key, value] : sidecar) acquisition.original_metadata["HDR/" + key] = value;

  FrameLayout layout;
  layout.frame_bytes = header.header_bytes + header.payload_bytes;
  FrameBlock block(std::move(file), layout);
  block.check_rest(options, acquisition);
  ScanFacts facts;
  facts.frames = block.frames();
  facts.attribute = grid_of(sidecar, facts.frames);
  apply_scan(acquisition, facts, options);
  return std::make_unique<MibSource>(std::move(acquisition), std::move(block), header);
}

}  // namespace sonde::stem
