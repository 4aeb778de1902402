// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mrc/mrc_header.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {
namespace {

constexpr std::size_t header_bytes = 1024;

/// The main header, in the byte order that its machine stamp names.
class Words {
 public:
  explicit Words(const File& file) : bytes_(header_bytes) {
    FileCursor(file).require(header_bytes, "the MRC header");
    file.read_at(0, bytes_);
    const auto stamp = std::to_integer<unsigned>(bytes_[212]);
    big_endian_ = stamp == 0x11;
    // Files older than the stamp: the mode is a small number in the right byte order only.
    if (stamp != 0x11 && stamp != 0x44) big_endian_ = load_little<std::uint32_t>(&bytes_[12]) > 0xffff;
  }
  [[nodiscard]] bool big_endian() const { return big_endian_; }
  [[nodiscard]] std::int32_t whole(std::size_t at) const {
    return std::bit_cast<std::int32_t>(big_endian_ ? load_big<std::uint32_t>(&bytes_[at])
                                                   : load_little<std::uint32_t>(&bytes_[at]));
  }
  [[nodiscard]] float real(std::size_t at) const { return std::bit_cast<float>(whole(at)); }
  [[nodiscard]] std::string text(std::size_t at, std::size_t most) const {
    std::string text(reinterpret_cast<const char*>(&bytes_[at]), most);
    text.resize(std::min(text.find('\0'), most));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
  }

 private:
  std::vector<std::byte> bytes_;
  bool big_endian_ = false;
};

void set_type(const Words& words, MrcHeader& header, const std::string& path) {
  constexpr std::int32_t imod_stamp = 1146047817, imod_signed = 1;
  const std::int32_t mode = words.whole(12);
  const float least = words.real(76), largest = words.real(80);
  // No signed byte is larger than 127: a header that states such values means unsigned ones.
  const bool beyond_signed = least >= 0 && largest > 127 && largest <= 255;
  switch (mode) {
    case 0:  // signed by the standard; IMOD's programs say where they mean otherwise
      header.dtype = beyond_signed || (words.whole(152) == imod_stamp && (words.whole(156) & imod_signed) == 0)
                         ? DType::u8
                         : DType::i8;
      return;
    case 1:
      header.dtype = DType::i16;
      return;
    case 2:
      header.dtype = DType::f32;
      return;
    case 6:
      header.dtype = DType::u16;
      return;
    case 12:
      header.dtype = DType::f32;
      header.half = true;
      return;
    default:
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: MRC mode {}; modes 0, 1, 2, 6 and 12 are read", path, mode))
          .hint("convert it to mode 6 or 2, for instance with IMOD's newstack -mode 6");
  }
}

/// One section of the extended header FEI1 or FEI2 (little endian, packed, the same up to here): what describes the
/// microscope. Pixel sizes stay metadata: whether they are those of an image or of a pattern is not stated.
void take_fei_section(std::span<const std::byte> section, MrcHeader& header) {
  const auto real = [&](std::size_t at) -> std::optional<double> {
    if (at + 8 > section.size()) return std::nullopt;
    const auto value = std::bit_cast<double>(load_little<std::uint64_t>(&section[at]));
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  const auto positive = [&](std::size_t at) -> std::optional<Quantity> {
    const auto value = real(at);
    return value && *value > 0 ? std::optional(Quantity{*value, StatedBy::file}) : std::nullopt;
  };
  constexpr std::size_t high_tension_at = 84, camera_length_at = 301;
  constexpr double most_camera_length_m = 1e3;
  header.calibration.high_tension_v = positive(high_tension_at);
  if (const auto length = positive(camera_length_at); length && length->value < most_camera_length_m)
    header.calibration.camera_length_m = length;
  static constexpr std::array<std::pair<const char*, std::size_t>, 13> named = {{{"Dose", 92},
                                                                                 {"Alpha tilt", 100},
                                                                                 {"Beta tilt", 108},
                                                                                 {"Tilt axis angle", 140},
                                                                                 {"Pixel size X", 156},
                                                                                 {"Pixel size Y", 164},
                                                                                 {"Defocus", 220},
                                                                                 {"STEM Defocus", 228},
                                                                                 {"Magnification", 289},
                                                                                 {"Camera length", 301},
                                                                                 {"Convergence angle", 329},
                                                                                 {"Integration time", 419},
                                                                                 {"HT", 84}}};
  for (const auto& [name, at] : named)
    if (const auto value = real(at)) header.metadata[std::string("FEI/") + name] = fmt::to_string(*value);
}

void read_extended(const File& file, const Words& words, std::uint64_t bytes, MrcHeader& header) {
  const std::string type = words.text(104, 4);
  if (bytes > 0) header.metadata["MRC/extended header"] = type.empty() ? "unnamed" : type;
  if (type != "FEI1" && type != "FEI2") return;
  constexpr std::size_t most_section_bytes = 888;
  std::vector<std::byte> section(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, most_section_bytes)));
  if (section.size() < 8) return;
  file.read_at(header_bytes, section);
  const std::uint32_t stated = load_little<std::uint32_t>(section.data());
  if (stated < section.size()) section.resize(stated);
  take_fei_section(section, header);
}

}  // namespace

MrcHeader read_mrc_header(const File& file) {
  const Words words(file);
  const std::string& path = file.path();
  MrcHeader header;
  header.big_endian = words.big_endian();
  header.cols = words.whole(0);
  header.rows = words.whole(4);
  header.frames = words.whole(8);
  constexpr Index most_pixels = 1 << 16;
  if (header.cols < 1 || header.rows < 1 || header.cols > most_pixels || header.rows > most_pixels)
    throw damaged(path,
                  fmt::format("frames of {} x {} pixels; expected 1 to {}", header.rows, header.cols, most_pixels));
  if (header.frames < 1) throw damaged(path, fmt::format("{} frames; expected 1 or more", header.frames));
  set_type(words, header, path);
  const std::array<std::int32_t, 3> axes = {words.whole(64), words.whole(68), words.whole(72)};
  if (axes != std::array{1, 2, 3} && axes != std::array{0, 0, 0})
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: axes in the order {}, {}, {}; 1, 2, 3 is read", path, axes[0], axes[1], axes[2]))
        .hint("convert it with columns along x and sections along z");
  const std::int32_t extended = words.whole(92);
  if (extended < 0) throw damaged(path, fmt::format("an extended header of {} bytes", extended));
  header.data_offset = header_bytes + static_cast<std::uint64_t>(extended);
  if (header.data_offset > file.size())
    throw damaged(path, fmt::format("an extended header of {} bytes, the file has {}", extended, file.size()));
  read_extended(file, words, static_cast<std::uint64_t>(extended), header);
  header.metadata["MRC/mode"] = fmt::to_string(words.whole(12));
  for (const auto& [name, at] : {std::pair("MRC/cell x", 40), {"MRC/cell y", 44}, {"MRC/cell z", 48}})
    header.metadata[name] = fmt::to_string(words.real(static_cast<std::size_t>(at)));
  constexpr int most_labels = 10, label_bytes = 80;
  for (int label = 0; label < std::min(words.whole(220), most_labels); ++label)
    header.metadata[fmt::format("MRC/label {}", label)] =
        words.text(static_cast<std::size_t>(224 + label * label_bytes), label_bytes);
  return header;
}

}  // namespace sonde::stem
