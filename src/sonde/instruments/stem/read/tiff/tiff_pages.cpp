// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/tiff/tiff_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_set>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/saturate.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {
namespace {

enum Tag : std::uint16_t {
  new_subfile_type = 254,
  image_width = 256,
  image_length = 257,
  bits_per_sample = 258,
  compression = 259,
  image_description = 270,
  strip_offsets = 273,
  samples_per_pixel = 277,
  rows_per_strip = 278,
  strip_byte_counts = 279,
  x_resolution = 282,
  y_resolution = 283,
  predictor = 317,
  tile_width = 322,
  tile_length = 323,
  tile_offsets = 324,
  tile_byte_counts = 325,
  sample_format = 339,
};

/// One entry of a directory: where its values are.
struct Entry {
  std::uint16_t type = 0;
  std::uint64_t count = 0, values_at = 0;
};

std::size_t bytes_of_type(std::uint16_t type) {
  switch (type) {
    case 1:  // byte, text, signed byte, undefined
    case 2:
    case 6:
    case 7:
      return 1;
    case 3:  // short
    case 8:
      return 2;
    case 4:  // long, float, directory
    case 9:
    case 11:
    case 13:
      return 4;
    case 5:  // rational, double, 64 bits
    case 10:
    case 12:
    case 16:
    case 17:
    case 18:
      return 8;
    default:
      return 0;
  }
}

class Walker {
 public:
  explicit Walker(const File& file) : file_(file), cursor_(file) {}

  TiffPages read() {
    std::uint64_t directory = read_header();
    std::unordered_set<std::uint64_t> seen;
    while (directory != 0) {
      if (!seen.insert(directory).second) throw wrong("its directories form a ring");
      directory = read_directory(directory);
      take_page();
    }
    if (pages_.frames == 0) throw wrong("it has no page");
    merge();
    pages_.described_shape = shape_in_description(pages_.description, pages_.frame.rows, pages_.frame.cols);
    continue_as_described();
    return std::move(pages_);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& fact) const { return damaged(file_.path(), fact); }
  [[nodiscard]] Error unsupported(const std::string& fact) const {
    return Error(ErrorKind::not_supported, fmt::format("{}: {}", file_.path(), fact))
        .hint("store the stack uncompressed as greyscale numbers, for instance with ImageJ, or as NPY");
  }
  std::uint16_t half() { return cursor_.integer<std::uint16_t>(big_endian_, "a directory"); }
  std::uint64_t offset() {
    return big_ ? cursor_.integer<std::uint64_t>(big_endian_, "a directory")
                : cursor_.integer<std::uint32_t>(big_endian_, "a directory");
  }

  std::uint64_t read_header() {
    const std::string order = cursor_.text(2, "the header");
    if (order != "II" && order != "MM") throw wrong("it does not begin with II or MM");
    big_endian_ = order == "MM";
    const std::uint16_t version = half();
    if (version != 42 && version != 43) throw wrong(fmt::format("version {}; expected 42 or 43", version));
    big_ = version == 43;
    if (big_) {
      const std::uint16_t width = half(), zero = half();
      if (width != 8 || zero != 0) throw wrong(fmt::format("offsets of {} bytes; expected 8", width));
    }
    return offset();
  }

  /// Fills entries_ and returns where the next directory is.
  std::uint64_t read_directory(std::uint64_t at) {
    entries_.clear();
    cursor_.seek(at);
    const std::uint64_t count = big_ ? offset() : half();
    const std::uint64_t entry_bytes = big_ ? 20 : 12;
    if (count > cursor_.left() / entry_bytes)
      throw wrong(
          fmt::format("a directory of {} entries at offset {}, the file has {} bytes", count, at, file_.size()));
    // Directories that do not overlap have room in the file; others could take for ever.
    directory_bytes_ += count * entry_bytes;
    if (directory_bytes_ > file_.size()) throw wrong("its directories overlap");
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint16_t tag = half();
      Entry entry;
      entry.type = half();
      entry.count = offset();
      entry.values_at = cursor_.position();
      const std::uint64_t inline_bytes = big_ ? 8 : 4;
      const std::size_t one = bytes_of_type(entry.type);
      if (one != 0) {
        if (entry.count > file_.size() / one)
          throw wrong(fmt::format("tag {} has {} values, the file has {} bytes", tag, entry.count, file_.size()));
        const std::uint64_t next = cursor_.position() + inline_bytes;
        if (entry.count * one > inline_bytes) entry.values_at = offset();
        cursor_.seek(next);
        entries_.insert_or_assign(tag, entry);
      } else {
        cursor_.skip(inline_bytes, "a directory");
      }
    }
    return offset();
  }

  /// Value `index` of an entry as a whole number; only the integer types are.
  std::uint64_t value(const Entry& entry, std::uint64_t index) {
    cursor_.seek(entry.values_at + index * bytes_of_type(entry.type));
    switch (entry.type) {
      case 1:
        return cursor_.integer<std::uint8_t>(big_endian_, "a value");
      case 3:
        return cursor_.integer<std::uint16_t>(big_endian_, "a value");
      case 4:
      case 13:
        return cursor_.integer<std::uint32_t>(big_endian_, "a value");
      case 16:
      case 18:
        return cursor_.integer<std::uint64_t>(big_endian_, "a value");
      default:
        throw wrong(fmt::format("a value of type {}; expected a whole number", entry.type));
    }
  }
  std::optional<std::uint64_t> single(Tag tag) {
    const auto found = entries_.find(tag);
    if (found == entries_.end() || found->second.count == 0) return std::nullopt;
    return value(found->second, 0);
  }
  Index need(Tag tag, const char* what) {
    const auto found = single(tag);
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    if (!found || *found < 1 || *found > most)
      throw wrong(fmt::format("{} is {}; expected 1 to {}", what, found ? std::to_string(*found) : "absent", most));
    return static_cast<Index>(*found);
  }
  std::string text(Tag tag) {
    const auto found = entries_.find(tag);
    if (found == entries_.end()) return {};
    constexpr std::uint64_t most = 16384;
    cursor_.seek(found->second.values_at);
    std::string text = cursor_.text(static_cast<std::size_t>(std::min(found->second.count, most)), "the description");
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }
  std::optional<double> ratio(Tag tag) {
    const auto found = entries_.find(tag);
    if (found == entries_.end() || found->second.type != 5 || found->second.count < 1) return std::nullopt;
    cursor_.seek(found->second.values_at);
    const auto above = cursor_.integer<std::uint32_t>(big_endian_, "a resolution");
    const auto below = cursor_.integer<std::uint32_t>(big_endian_, "a resolution");
    if (above == 0 || below == 0) return std::nullopt;
    return static_cast<double>(above) / below;
  }

  DType element_type() {
    const std::uint64_t bits = single(bits_per_sample).value_or(1), format = single(sample_format).value_or(1);
    if (single(samples_per_pixel).value_or(1) != 1)
      throw unsupported(fmt::format("{} values per pixel; greyscale is read", *single(samples_per_pixel)));
    if (format == 1 && bits == 8) return DType::u8;
    if (format == 1 && bits == 16) return DType::u16;
    if (format == 1 && bits == 32) return DType::u32;
    if (format == 1 && bits == 64) return DType::u64;
    if (format == 2 && bits == 8) return DType::i8;
    if (format == 2 && bits == 16) return DType::i16;
    if (format == 2 && bits == 32) return DType::i32;
    if (format == 2 && bits == 64) return DType::i64;
    if (format == 3 && bits == 32) return DType::f32;
    if (format == 3 && bits == 64) return DType::f64;
    throw unsupported(
        fmt::format("pixels of {} bits in sample format {}; 8 to 64 bits of whole numbers, 32 and 64 of floating-point "
                    "ones are read",
                    bits, format));
  }

  TiffFrame frame() {
    TiffFrame frame;
    frame.cols = need(image_width, "the width");
    frame.rows = need(image_length, "the height");
    frame.dtype = element_type();
    frame.big_endian = big_endian_;
    switch (single(compression).value_or(1)) {
      case 1:
        frame.compression = TiffCompression::none;
        break;
      case 5:
        frame.compression = TiffCompression::lzw;
        break;
      case 8:
      case 32946:
        frame.compression = TiffCompression::deflate;
        break;
      case 32773:
        frame.compression = TiffCompression::packbits;
        break;
      default:
        throw unsupported(
            fmt::format("compression {}; none, LZW, Deflate and PackBits are read", *single(compression)));
    }
    const std::uint64_t prediction = single(predictor).value_or(1);
    if (frame.compression == TiffCompression::none || prediction == 1)
      frame.prediction = TiffPrediction::none;
    else if (prediction == 2 && !is_float(frame.dtype))
      frame.prediction = TiffPrediction::differences;
    else if (prediction == 3 && is_float(frame.dtype))
      frame.prediction = TiffPrediction::bytes_of_floats;
    else
      throw unsupported(
          fmt::format("predictor {} of {} values; 1, 2 for whole numbers and 3 for floating-point ones are read",
                      prediction, name(frame.dtype)));
    if (entries_.contains(tile_offsets)) {
      frame.segment_cols = need(tile_width, "the width of a tile");
      frame.segment_rows = need(tile_length, "the height of a tile");
    } else {
      frame.segment_cols = frame.cols;
      const std::uint64_t rows = single(rows_per_strip).value_or(static_cast<std::uint64_t>(frame.rows));
      if (rows == 0) throw wrong("strips of 0 rows");
      frame.segment_rows = static_cast<Index>(std::min(rows, static_cast<std::uint64_t>(frame.rows)));
    }
    return frame;
  }

  [[nodiscard]] static bool same(const TiffFrame& a, const TiffFrame& b) {
    return a.rows == b.rows && a.cols == b.cols && a.dtype == b.dtype;
  }

  void take_page() {
    if ((single(new_subfile_type).value_or(0) & 1) != 0) return;  // a smaller copy of another page
    TiffFrame frame = this->frame();
    if (pages_.frames == 0) {
      pages_.description = text(image_description);
      pages_.col_pixels_per_unit = ratio(x_resolution);
      pages_.row_pixels_per_unit = ratio(y_resolution);
    } else if (!same(frame, pages_.frame)) {
      ++pages_.left_out;
      return;
    }
    const bool tiled = entries_.contains(tile_offsets);
    const auto offsets = entries_.find(tiled ? tile_offsets : strip_offsets);
    const auto counts = entries_.find(tiled ? tile_byte_counts : strip_byte_counts);
    if (offsets == entries_.end()) throw wrong(fmt::format("page {} has no pixels", pages_.frames));
    const auto needed = static_cast<std::uint64_t>(frame.segments());
    if (offsets->second.count < needed || (counts != entries_.end() && counts->second.count < needed))
      throw wrong(
          fmt::format("page {} has {} strips or tiles; expected {}", pages_.frames, offsets->second.count, needed));
    std::vector<TiffSegment> segments =
        read_segments(frame, offsets->second, counts == entries_.end() ? nullptr : &counts->second);
    if (pages_.frames == 0)
      pages_.frame = frame;
    else if (frame.segment_rows != pages_.frame.segment_rows || frame.segment_cols != pages_.frame.segment_cols ||
             frame.compression != pages_.frame.compression || frame.prediction != pages_.frame.prediction)
      throw unsupported(fmt::format("page {} is stored in another way than the first", pages_.frames));
    // Directories may share their tables; what is kept stays in proportion to the file all the same.
    if (pages_.segments.size() + segments.size() > file_.size() / 2 + 1) throw wrong("its pages share their tables");
    pages_.segments.insert(pages_.segments.end(), segments.begin(), segments.end());
    ++pages_.frames;
  }

  std::vector<TiffSegment> read_segments(const TiffFrame& frame, const Entry& offsets, const Entry* counts) {
    const auto needed = static_cast<std::uint64_t>(frame.segments());
    const std::uint64_t full =
        static_cast<std::uint64_t>(frame.segment_rows * frame.segment_cols) * size_bytes(frame.dtype);
    std::vector<TiffSegment> segments;
    for (std::uint64_t i = 0; i < needed; ++i) {
      TiffSegment segment;
      segment.offset = value(offsets, i);
      if (segment.offset > file_.size()) throw outside(i);
      segment.bytes = counts != nullptr ? 0 : std::min(full, file_.size() - segment.offset);
      segments.push_back(segment);
    }
    for (std::uint64_t i = 0; counts != nullptr && i < needed; ++i) segments[i].bytes = value(*counts, i);
    for (std::uint64_t i = 0; i < needed; ++i) {
      TiffSegment& segment = segments[i];
      if (frame.compression == TiffCompression::none) {
        const std::uint64_t logical = uncompressed_bytes(frame, i);
        if (segment.bytes < logical)
          throw wrong(fmt::format("page {}, strip or tile {} has {} bytes; expected {}", pages_.frames, i,
                                  segment.bytes, logical));
        segment.bytes = logical;
      }
      if (segment.bytes > file_.size() - segment.offset) throw outside(i);
    }
    return segments;
  }

  [[nodiscard]] Error outside(std::uint64_t segment) const {
    return wrong(fmt::format("page {}, strip or tile {} is located outside the file", pages_.frames, segment));
  }

  /// Tiles are whole always, the last strip ends with the frame.
  [[nodiscard]] static std::uint64_t uncompressed_bytes(const TiffFrame& frame, std::uint64_t segment) {
    Index rows = frame.segment_rows;
    if (frame.segment_cols == frame.cols)
      rows = std::min(rows, frame.rows - static_cast<Index>(segment) * frame.segment_rows);
    return static_cast<std::uint64_t>(rows * frame.segment_cols) * size_bytes(frame.dtype);
  }

  /// Uncompressed strips that follow each other are one, when they do in every page.
  void merge() {
    TiffFrame& frame = pages_.frame;
    std::vector<TiffSegment>& segments = pages_.segments;
    const auto count = static_cast<std::size_t>(frame.segments());
    if (frame.compression != TiffCompression::none || frame.segment_cols != frame.cols || count < 2) return;
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (i % count != 0 && segments[i].offset != segments[i - 1].offset + segments[i - 1].bytes) return;
    const std::uint64_t bytes = static_cast<std::uint64_t>(frame.rows * frame.cols) * size_bytes(frame.dtype);
    for (std::size_t page = 0; page < segments.size() / count; ++page)
      segments[page] = {segments[page * count].offset, bytes};
    segments.resize(segments.size() / count);
    frame.segment_rows = frame.rows;
  }

  /// How many frames the description says that there are; 0 when it does not.
  [[nodiscard]] std::uint64_t described_frames() const {
    constexpr std::string_view key = "\nimages=";
    if (pages_.description.starts_with("ImageJ=")) {
      const std::size_t at = pages_.description.find(key);
      std::uint64_t images = 0;
      if (at == std::string::npos) return 0;
      const char* digits = pages_.description.data() + at + key.size();
      std::from_chars(digits, pages_.description.data() + pages_.description.size(), images);
      return images;
    }
    if (pages_.described_shape.empty()) return 0;
    Index frames = 1;
    for (std::size_t i = 0; i + 2 < pages_.described_shape.size(); ++i)
      frames = saturating_product(frames, pages_.described_shape[i]);
    return static_cast<std::uint64_t>(frames);
  }

  /// The frames that follow the only directory of a file.
  void continue_as_described() {
    if (pages_.frames != 1 || pages_.segments.size() != 1 || pages_.frame.compression != TiffCompression::none) return;
    const std::uint64_t images = described_frames();
    const TiffSegment first = pages_.segments.front();
    if (images < 2) return;
    if (images > (file_.size() - first.offset) / first.bytes)
      throw wrong(fmt::format("the description states {} images, the file has space for {}", images,
                              (file_.size() - first.offset) / first.bytes));
    for (std::uint64_t i = 1; i < images; ++i) pages_.segments.push_back({first.offset + i * first.bytes, first.bytes});
    pages_.frames = static_cast<Index>(images);
  }

  const File& file_;
  FileCursor cursor_;
  bool big_endian_ = false, big_ = false;
  std::uint64_t directory_bytes_ = 0;  ///< of all directories so far
  std::map<std::uint16_t, Entry> entries_;
  TiffPages pages_;
};

}  // namespace

std::vector<Index> shape_in_description(const std::string& description, Index rows, Index cols) {
  if (!description.starts_with('{')) return {};
  Value root;
  try {
    root = parse_json(description, "the description");
  } catch (const Error&) {
    return {};  // a text of the user's
  }
  const Value* shape = root.is_object() ? root.find("shape") : nullptr;
  if (shape == nullptr || !shape->is_list()) return {};
  std::vector<Index> extents;
  for (const Value& each : shape->items()) {
    if (!each.is_whole() || each.as_whole() < 1) return {};
    extents.push_back(each.as_whole());
  }
  const std::size_t rank = extents.size();
  if (rank < 2 || extents[rank - 2] != rows || extents[rank - 1] != cols) return {};
  return extents;
}

TiffPages read_tiff_pages(const File& file) { return Walker(file).read(); }

}  // namespace sonde::stem
