// SPDX-License-Identifier: Apache-2.0
// The layout is known from Chris Boothroyd's description of DM3 and DM4, "Digital Micrograph file format".
#include "sonde/instruments/stem/read/gatan/dm_tags.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {
namespace {

constexpr std::uint8_t tag_data = 21, tag_group = 20;
constexpr std::uint64_t type_struct = 15, type_string = 18, type_array = 20;

/// Bytes of a simple type by its number; 0 for others.
std::size_t bytes_of(std::uint64_t type) {
  switch (type) {
    case 8:   // bool
    case 9:   // char
    case 10:  // byte
      return 1;
    case 2:  // short
    case 4:  // unsigned short
      return 2;
    case 3:  // long
    case 5:  // unsigned long
    case 6:  // float
      return 4;
    case 7:   // double
    case 11:  // long long
    case 12:  // unsigned long long
      return 8;
    default:
      return 0;
  }
}

class Reader {
 public:
  Reader(const File& file, DmTags& tags) : file_(file), cursor_(file), tags_(tags) {}

  void read() {
    tags_.version = static_cast<int>(cursor_.big<std::uint32_t>("the header"));
    if (tags_.version != 3 && tags_.version != 4) throw wrong("it begins with no DM3 or DM4 header");
    (void)word("the header");  // the length of the file, not always right
    const auto order = cursor_.big<std::uint32_t>("the header");
    if (order > 1) throw wrong(fmt::format("a byte order of {}; expected 0 or 1", order));
    tags_.big_endian = order == 0;
    group("", 0);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& fact) const {
    return damaged(file_.path(), fmt::format("{} (offset {})", fact, cursor_.position()));
  }
  /// Counts and lengths: 32 bits in version 3, 64 in version 4.
  std::uint64_t word(const char* what) {
    return tags_.version == 4 ? cursor_.big<std::uint64_t>(what) : cursor_.big<std::uint32_t>(what);
  }

  void group(const std::string& path, int depth) {
    constexpr int most_depth = 64;
    if (depth > most_depth) throw wrong(fmt::format("tags are nested more than {} deep", most_depth));
    cursor_.skip(2, "a group of tags");  // sorted, open
    const std::uint64_t count = word("a group of tags");
    constexpr std::uint64_t fewest_bytes_of_a_tag = 8;
    if (count > cursor_.left() / fewest_bytes_of_a_tag)
      throw wrong(fmt::format("a group of {} tags, the file has {} more bytes", count, cursor_.left()));
    for (std::uint64_t i = 0; i < count; ++i) tag(path, i, depth);
  }

  void tag(const std::string& path, std::uint64_t number, int depth) {
    const auto kind = cursor_.big<std::uint8_t>("a tag");
    if (kind != tag_data && kind != tag_group) throw wrong(fmt::format("a tag of kind {}; expected 20 or 21", kind));
    const auto name_bytes = cursor_.big<std::uint16_t>("a tag");
    std::string name = cursor_.text(name_bytes, "the name of a tag");
    if (name.empty()) name = std::to_string(number);
    std::string here = path.empty() ? std::move(name) : path + "/" + name;
    constexpr std::size_t most_path_bytes = 4096;
    if (here.size() > most_path_bytes) throw wrong("the names of tags are too long");
    if (tags_.version == 4) cursor_.skip(8, "a tag");  // its length in bytes
    if (kind == tag_group) return group(here, depth + 1);
    if (cursor_.text(4, "a tag") != "%%%%") throw wrong(fmt::format("tag {} has no value", here));
    value(here);
  }

  void value(const std::string& path) {
    const std::uint64_t words = word("the type of a tag");
    constexpr std::uint64_t most_words = 4096;
    if (words == 0 || words > most_words) throw wrong(fmt::format("the type of tag {} has {} words", path, words));
    std::vector<std::uint64_t> type;
    for (std::uint64_t i = 0; i < words; ++i) type.push_back(word("the type of a tag"));
    if (words == 1) return simple(path, type[0]);
    if (type[0] == type_string && words == 2) return text(path, type[1], 1);
    if (type[0] == type_struct) return cursor_.skip(struct_bytes(path, type, 0), "a group of numbers");
    if (type[0] == type_array && words >= 3) return array(path, type);
    throw wrong(fmt::format("tag {} has the unknown type {}", path, type[0]));
  }

  void simple(const std::string& path, std::uint64_t type) {
    const std::size_t bytes = bytes_of(type);
    if (bytes == 0) throw wrong(fmt::format("tag {} has the unknown type {}", path, type));
    const bool big = tags_.big_endian;
    const char* what = "the value of a tag";
    switch (type) {
      case 2:
        return keep(path, std::int64_t{std::bit_cast<std::int16_t>(cursor_.integer<std::uint16_t>(big, what))});
      case 3:
        return keep(path, std::int64_t{std::bit_cast<std::int32_t>(cursor_.integer<std::uint32_t>(big, what))});
      case 4:
        return keep(path, std::int64_t{cursor_.integer<std::uint16_t>(big, what)});
      case 5:
        return keep(path, std::int64_t{cursor_.integer<std::uint32_t>(big, what)});
      case 6:
        return keep(path, double{std::bit_cast<float>(cursor_.integer<std::uint32_t>(big, what))});
      case 7:
        return keep(path, std::bit_cast<double>(cursor_.integer<std::uint64_t>(big, what)));
      case 11:
        return keep(path, std::bit_cast<std::int64_t>(cursor_.integer<std::uint64_t>(big, what)));
      case 12:
        return keep(path, cursor_.integer<std::uint64_t>(big, what));
      default:
        return keep(path, std::int64_t{cursor_.integer<std::uint8_t>(big, what)});
    }
  }

  /// Bytes of the struct whose definition begins at `at`: the kind, the length of its name, the number of fields, and
  /// for each the length of its name and its type.
  std::uint64_t struct_bytes(const std::string& path, const std::vector<std::uint64_t>& type, std::size_t at) {
    const std::uint64_t fields = at + 2 < type.size() ? type[at + 2] : 0;
    if (fields == 0 || fields > type.size() || at + 3 + 2 * fields > type.size())
      throw wrong(fmt::format("tag {} is a group of {} numbers", path, fields));
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < fields; ++i) {
      const std::size_t one = bytes_of(type[at + 4 + 2 * i]);
      if (one == 0) throw wrong(fmt::format("tag {} has the unknown type {}", path, type[at + 4 + 2 * i]));
      bytes += one;
    }
    return bytes;
  }

  void array(const std::string& path, const std::vector<std::uint64_t>& type) {
    const std::uint64_t count = type.back();
    if (type[1] == type_struct) {
      const std::uint64_t one = struct_bytes(path, type, 1);
      if (one != 0 && count > cursor_.left() / one) throw too_long(path, count);
      return cursor_.skip(count * one, "an array of groups");
    }
    const std::size_t one = bytes_of(type[1]);
    if (one == 0 || type.size() != 3)
      throw wrong(fmt::format("tag {} is an array of the unknown type {}", path, type[1]));
    if (count > cursor_.left() / one) throw too_long(path, count);
    constexpr std::uint64_t most_text = 1024;
    // Texts are arrays of 16-bit characters; an image of that type is far longer or is called Data.
    const bool data = path.ends_with("ImageData/Data");
    if (type[1] == 4 && count <= most_text && !data) return text(path, count, 2);
    keep(path, DmArray{cursor_.position(), count, one});
    cursor_.skip(count * one, "an array");
  }

  [[nodiscard]] Error too_long(const std::string& path, std::uint64_t count) const {
    return wrong(
        fmt::format("tag {} is an array of {} values, the file has {} more bytes", path, count, cursor_.left()));
  }

  /// Characters of one or two bytes, as UTF-8; one that is not in the Basic Multilingual Plane becomes "?".
  void text(const std::string& path, std::uint64_t characters, std::uint64_t width) {
    cursor_.require(
        characters <= cursor_.left() / width ? characters * width : std::numeric_limits<std::uint64_t>::max(),
        "the text of a tag");
    constexpr std::uint64_t most = 4096;
    std::string text;
    for (std::uint64_t i = 0; i < std::min(characters, most); ++i) {
      const std::uint32_t c = width == 2 ? cursor_.integer<std::uint16_t>(tags_.big_endian, "the text of a tag")
                                         : cursor_.integer<std::uint8_t>(false, "the text of a tag");
      if (c == 0) continue;
      if (c < 0x80) {
        text += static_cast<char>(c);
      } else if (c < 0x800) {
        text += static_cast<char>(0xc0 | (c >> 6));
        text += static_cast<char>(0x80 | (c & 0x3f));
      } else if (c >= 0xd800 && c < 0xe000) {
        text += '?';
      } else {
        text += static_cast<char>(0xe0 | (c >> 12));
        text += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
        text += static_cast<char>(0x80 | (c & 0x3f));
      }
    }
    if (characters > most) cursor_.skip((characters - most) * width, "the text of a tag");
    keep(path, std::move(text));
  }

  void keep(const std::string& path, DmValue value) {
    // A tag of eight bytes may have a path of thousands: what is kept is bounded by itself.
    constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;
    kept_bytes_ += path.size() + sizeof value;
    if (kept_bytes_ > most_kept_bytes) throw wrong("the tags need more than 64 MiB");
    tags_.values.emplace(path, std::move(value));
  }

  const File& file_;
  FileCursor cursor_;
  DmTags& tags_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace

std::optional<double> DmTags::number(const std::string& path) const {
  const auto found = values.find(path);
  if (found == values.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&found->second)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<double>(&found->second)) return *value;
  return std::nullopt;
}

std::optional<std::int64_t> DmTags::integer(const std::string& path) const {
  const auto found = values.find(path);
  if (found == values.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&found->second))
    if (std::in_range<std::int64_t>(*value)) return static_cast<std::int64_t>(*value);
  return std::nullopt;
}

std::string DmTags::text(const std::string& path) const {
  const auto found = values.find(path);
  const auto* value = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value == nullptr ? "" : *value;
}

std::optional<DmArray> DmTags::array(const std::string& path) const {
  const auto found = values.find(path);
  const auto* value = found == values.end() ? nullptr : std::get_if<DmArray>(&found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

DmTags read_dm_tags(const File& file) {
  DmTags tags;
  Reader(file, tags).read();
  return tags;
}

}  // namespace sonde::stem
