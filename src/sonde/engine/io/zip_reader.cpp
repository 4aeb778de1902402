// SPDX-License-Identifier: Apache-2.0
// The layout is that of PKWARE's APPNOTE 6.3, sections 4.3 (structure) and 4.5.3 (ZIP64).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/crc32.h"
#include "sonde/engine/io/inflate.h"
#include "sonde/engine/io/zip.h"

namespace sonde {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::size_t end_bytes = 22, end64_bytes = 56, locator64_bytes = 20, entry_bytes = 46, local_bytes = 30;

Error broken(const File& file, std::string_view why) {
  return Error(ErrorKind::bad_file, fmt::format("{}: not a valid ZIP archive: {}", file.path(), why))
      .hint("the copy may be incomplete");
}

/// Where the directory lies.
struct Directory {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

Directory find_directory(const File& file) {
  // The end record stands before a comment of up to 65535 bytes.
  const std::size_t tail_bytes = std::min<std::uint64_t>(file.size(), end_bytes + 65535);
  std::vector<std::byte> tail(tail_bytes);
  file.read_at(file.size() - tail_bytes, tail);
  for (std::size_t back = end_bytes; back <= tail_bytes; ++back) {
    const std::byte* end = tail.data() + (tail_bytes - back);
    if (load_little<std::uint32_t>(end) != end_signature || load_little<std::uint16_t>(end + 20) != back - end_bytes)
      continue;
    Directory directory{load_little<std::uint32_t>(end + 16), load_little<std::uint32_t>(end + 12),
                        load_little<std::uint16_t>(end + 10)};
    const std::uint64_t end_offset = file.size() - back;
    std::byte locator[locator64_bytes];
    if (end_offset >= locator64_bytes) file.read_at(end_offset - locator64_bytes, locator);
    if (end_offset >= locator64_bytes && load_little<std::uint32_t>(locator) == locator64_signature) {
      std::byte end64[end64_bytes];
      file.read_at(load_little<std::uint64_t>(locator + 8), end64);
      if (load_little<std::uint32_t>(end64) != end64_signature) throw broken(file, "no ZIP64 end record");
      directory = {load_little<std::uint64_t>(end64 + 48), load_little<std::uint64_t>(end64 + 40),
                   load_little<std::uint64_t>(end64 + 32)};
    }
    if (directory.offset > end_offset || directory.bytes > end_offset - directory.offset)
      throw broken(file, "its directory is outside the file");
    return directory;
  }
  throw broken(file, "it has no end record");
}

/// Replaces the 32-bit sizes that are all ones by those of the ZIP64 extra field (identifier 1).
void read_zip64(const File& file, std::span<const std::byte> extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const auto id = load_little<std::uint16_t>(extra.data());
    const std::size_t bytes = load_little<std::uint16_t>(extra.data() + 2);
    if (bytes > extra.size() - 4) throw broken(file, "an extra field is too long");
    std::span<const std::byte> field = extra.subspan(4, bytes);
    extra = extra.subspan(4 + bytes);
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.bytes, &entry.stored_bytes, &entry.header_offset}) {
      if (*value != 0xffffffff) continue;
      if (field.size() < 8) throw broken(file, "a ZIP64 field is too short");
      *value = load_little<std::uint64_t>(field.data());
      field = field.subspan(8);
    }
  }
}

}  // namespace

ZipReader::ZipReader(const std::string& path) : file_(path) {
  if (file_.size() < end_bytes) throw broken(file_, "it is too short");
  const Directory directory = find_directory(file_);
  std::vector<std::byte> bytes(directory.bytes);
  file_.read_at(directory.offset, bytes);
  std::span<const std::byte> left = bytes;
  while (entries_.size() < directory.entries) {
    if (left.size() < entry_bytes || load_little<std::uint32_t>(left.data()) != entry_signature)
      throw broken(file_, fmt::format("entry {} of its directory is damaged", entries_.size()));
    const auto half = [&](std::size_t at) { return load_little<std::uint16_t>(left.data() + at); };
    const auto word = [&](std::size_t at) { return load_little<std::uint32_t>(left.data() + at); };
    const std::size_t name_bytes = half(28), extra_bytes = half(30);
    const std::size_t total = entry_bytes + name_bytes + extra_bytes + half(32);
    if (total > left.size()) throw broken(file_, fmt::format("entry {} of its directory is cut", entries_.size()));
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(left.data()) + entry_bytes, name_bytes);
    entry.crc = word(16);
    entry.stored_bytes = word(20);
    entry.bytes = word(24);
    entry.header_offset = word(42);
    read_zip64(file_, left.subspan(entry_bytes + name_bytes, extra_bytes), entry);
    const bool encrypted = (half(8) & 1u) != 0;
    const int method = half(10);
    if (encrypted || (method != 0 && method != 8))
      throw Error(ErrorKind::not_supported, fmt::format("{}: {} is {}", path, entry.name,
                                                        encrypted ? "encrypted" : "packed with an uncommon method"));
    entry.method = method == 0 ? ZipMethod::stored : ZipMethod::deflated;
    entries_.push_back(std::move(entry));
    left = left.subspan(total);
  }
}

std::uint64_t ZipReader::packed_offset(const ZipEntry& entry) const {
  const auto damaged = [&](std::string_view why) { return broken(file_, fmt::format("{}: {}", entry.name, why)); };
  std::byte local[local_bytes];
  file_.read_at(entry.header_offset, local);
  if (load_little<std::uint32_t>(local) != local_signature) throw damaged("its header is not where the directory says");
  const std::uint64_t offset = entry.header_offset + local_bytes + load_little<std::uint16_t>(local + 26) +
                               load_little<std::uint16_t>(local + 28);
  if (offset > file_.size() || entry.stored_bytes > file_.size() - offset) throw damaged("it ends beyond the file");
  const bool stored = entry.method == ZipMethod::stored;
  if (stored ? entry.bytes != entry.stored_bytes : entry.bytes / most_deflate_ratio > entry.stored_bytes)
    throw damaged(fmt::format("{} bytes cannot come from {}", entry.bytes, entry.stored_bytes));
  return offset;
}

std::uint64_t ZipReader::offset(const ZipEntry& entry) const {
  if (entry.method != ZipMethod::stored)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} is deflated; expected a stored entry", file_.path(), entry.name));
  return packed_offset(entry);
}

void ZipReader::check(const ZipEntry& entry, std::span<const std::byte> bytes) const {
  if (crc32_of(bytes) != entry.crc) throw broken(file_, entry.name + ": its checksum is wrong");
}

std::vector<std::byte> ZipReader::read(const ZipEntry& entry) const {
  const std::uint64_t offset = packed_offset(entry);
  std::vector<std::byte> bytes(entry.stored_bytes);
  file_.read_at(offset, bytes);
  if (entry.method == ZipMethod::deflated) {
    std::vector<std::byte> unpacked(entry.bytes);
    if (!inflate_exactly(bytes, unpacked, DeflateFraming::raw))
      throw broken(file_, entry.name + ": its packed bytes are broken");
    bytes = std::move(unpacked);
  }
  check(entry, bytes);
  return bytes;
}

}  // namespace sonde
