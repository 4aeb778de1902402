// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/mark.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde {
namespace {

constexpr std::string_view png_signature = "\x89PNG\r\n\x1a\n";
constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

std::string part_of(const File& file, std::uint64_t offset, std::uint64_t most) {
  if (offset >= file.size()) return "";
  std::string part(static_cast<std::size_t>(std::min(most, file.size() - offset)), '\0');
  file.read_at(offset, std::as_writable_bytes(std::span(part)));
  return part;
}

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// A text chunk "Software" before the pixels: chunks are length, name, content, checksum.
bool marked_png(const File& file) {
  constexpr int most_chunks = 64;
  std::uint64_t at = png_signature.size();
  for (int i = 0; i < most_chunks; ++i) {
    const std::string chunk = part_of(file, at, 64);
    if (chunk.size() < 12 || chunk.compare(4, 4, "IDAT") == 0) return false;
    const std::string_view content = std::string_view(chunk).substr(8);
    if (content.starts_with(std::string_view("Software\0", 9)) && content.find(mark_software) != std::string::npos)
      return true;
    at += 12 + std::uint64_t{big_endian(chunk)};
  }
  return false;
}

/// The tag Software of the first directory, of TIFF (12 bytes each entry) and BigTIFF (20), little-endian as written
/// here.
bool marked_tiff(const File& file) {
  const std::string head = part_of(file, 0, 16);
  const auto number = [](std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  };
  if (head.size() < 16) return false;
  const bool big = head[2] == 43;
  const std::uint64_t directory = number(std::string_view(head).substr(big ? 8 : 4, big ? 8 : 4));
  const std::size_t of_count = big ? 8 : 2, of_entry = big ? 20 : 12, of_value = big ? 8 : 4;
  const std::string counted = part_of(file, directory, of_count);
  if (counted.size() < of_count) return false;
  const std::uint64_t most_entries = 256;
  const std::string entries = part_of(file, directory + of_count, of_entry * std::min(number(counted), most_entries));
  for (std::size_t at = 0; at + of_entry <= entries.size(); at += of_entry) {
    const std::string_view entry = std::string_view(entries).substr(at, of_entry);
    constexpr std::uint64_t software = 305;
    if (number(entry.substr(0, 2)) != software) continue;
    const std::uint64_t count = number(entry.substr(4, of_value));
    const std::string_view value = entry.substr(4 + of_value, of_value);
    const std::string text = count <= of_value ? std::string(value) : part_of(file, number(value), 64);
    return text.starts_with(mark_software);
  }
  return false;
}

/// A checkpoint ends in its seal; a result names its schema.
bool marked_hdf5(const File& file, const std::string& path) {
  constexpr std::string_view seal = "\nsonde crc32 ";
  if (part_of(file, file.size() - std::min<std::uint64_t>(file.size(), 64), 64).find(seal) != std::string::npos)
    return true;
  const std::optional<Hdf5Value> schema = Hdf5File::open(path).attribute("/", "schema");
  const std::optional<std::string> text = schema ? schema->text() : std::nullopt;
  return text && text->starts_with("sonde.");
}

FileMark found_in(const std::string& path) {
  const File file(path);
  const std::string head = part_of(file, 0, 4096);
  const auto holds = [&](std::string_view text) { return head.find(text) != std::string::npos; };
  if (head.starts_with(png_signature)) return marked_png(file) ? FileMark::picture : FileMark::none;
  if (head.starts_with(hdf5_signature)) return marked_hdf5(file, path) ? FileMark::hdf5 : FileMark::none;
  if (head.starts_with("II*") || head.starts_with("II+")) return marked_tiff(file) ? FileMark::picture : FileMark::none;
  if (head.starts_with("%PDF")) {
    const std::string end = part_of(file, file.size() - std::min<std::uint64_t>(file.size(), 256), 256);
    return end.find(fmt::format("%{}", mark_comment)) != std::string::npos ? FileMark::picture : FileMark::none;
  }
  if (holds("<svg")) return holds(mark_comment) ? FileMark::picture : FileMark::none;
  if (holds("<VTKFile")) return holds(mark_comment) ? FileMark::text : FileMark::none;
  if (holds("<html") || holds("<!doctype html") || holds("<!DOCTYPE html"))
    return holds(fmt::format("<meta name=\"generator\" content=\"{}", mark_software)) ? FileMark::page : FileMark::none;
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  if (line.starts_with("{\"schema\":\"sonde.log")) return FileMark::text;
  if (head.starts_with('{')) {
    // The caches of earlier versions: of the machine, and of its crossovers.
    const bool cache = head.starts_with("{\n  \"identity\": {\n    \"host\"") || holds("\"format\": \"sonde ");
    return cache || holds("\"schema\": \"sonde.") || holds("\"schema\":\"sonde.") ? FileMark::json : FileMark::none;
  }
  const bool page = holds("Written by `sonde help --markdown`"), script = line.starts_with("# Draws ");
  const bool table = line.starts_with("rank,trial,") && line.ends_with(",outcome,iterations,R_I,R_free,seconds");
  return page || script || table || line.starts_with("sonde ") || line.starts_with("# sonde") ? FileMark::text
                                                                                              : FileMark::none;
}

std::string be32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xffu);
  return bytes;
}

}  // namespace

FileMark mark_of(const std::string& path) {
  const InRun apart(nullptr);  // looking at what is replaced makes no input of it
  try {
    return found_in(path);
  } catch (const Error&) {
    return FileMark::none;
  }
}

bool may_replace(const std::string& path, FileMark kind) {
  {
    const InRun apart(nullptr);
    try {
      if (File(path).size() == 0) return true;
    } catch (const Error&) {  // it cannot be read, so it does not say what it is
      return false;
    }
  }
  return mark_of(path) == kind;
}

std::string marked_picture(std::string bytes) {
  constexpr std::size_t header_end = 33;  // of a PNG: the signature and the chunk IHDR
  if (bytes.starts_with(png_signature) && bytes.size() > header_end) {
    std::string content = "tEXtSoftware";
    content += '\0';
    content += mark_software;
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    bytes.insert(header_end, be32(static_cast<std::uint32_t>(content.size() - 4)) + content + be32(crc));
  } else if (bytes.starts_with("%PDF")) {
    bytes += fmt::format("%{}\n", mark_comment);
  } else if (const std::size_t svg = bytes.find("<svg"); svg != std::string::npos) {
    bytes.insert(svg, fmt::format("<!--{}-->\n", mark_comment));
  }
  return bytes;
}

}  // namespace sonde
