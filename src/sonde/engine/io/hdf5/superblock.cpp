// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/superblock.h"

#include <optional>

#include "sonde/engine/io/hdf5/checksum.h"

namespace sonde::hdf5 {
namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";

std::optional<std::uint64_t> find_signature(const Image& image) {
  for (std::uint64_t at = 0; image.room(at) >= signature.size(); at = at == 0 ? 512 : 2 * at)
    if (Cursor(image.read(at, signature.size())).take_if(signature)) return at;
  return std::nullopt;
}

bool is_width(unsigned bytes) { return bytes == 2 || bytes == 4 || bytes == 8; }

Widths take_widths(Cursor& cursor) {
  const unsigned address = cursor.byte(), length = cursor.byte();
  if (!is_width(address) || !is_width(length))
    damaged(fmt::format("addresses of {} and lengths of {} bytes", address, length));
  return {address, length};
}

void require_one_file(const Image& image, std::uint64_t driver) {
  if (driver == undefined_address) return;
  const Bytes block = image.read(driver, 16);
  Cursor cursor(block);
  cursor.skip(8);
  const ByteSpan name = cursor.take_bytes(8);
  const std::string text(reinterpret_cast<const char*>(name.data()), 8);
  if (text.starts_with("NCSA"))
    unsupported(fmt::format("the data set is split over several files (HDF5 driver {})", text.substr(0, 8)),
                "join the files with h5repart or h5repack");
}

}  // namespace

bool is_hdf5(const Image& image) { return find_signature(image).has_value(); }

Superblock read_superblock(Image& image) {
  const auto place = find_signature(image);
  if (!place) damaged("there is no HDF5 signature");
  const Bytes head = image.read_most(*place, 128);
  Cursor start(head);
  start.skip(signature.size());
  const unsigned version = start.byte();
  constexpr unsigned conceivable = 8;  // a byte of any value is damage
  if (version > conceivable) damaged(fmt::format("its superblock has version {}", version));
  if (version > 3)
    unsupported(fmt::format("superblock of version {}; 0 to 3 are read", version),
                "write the file again with h5repack --high=v110");

  Superblock superblock;
  if (version <= 1) start.skip(4);  // versions of free space, root group, reserved, shared header
  superblock.widths = take_widths(start);
  Cursor cursor(start.rest(), superblock.widths);
  if (version <= 1) cursor.skip(1 + 2 + 2 + 4);  // reserved, sizes of group nodes, flags
  if (version == 1) cursor.skip(2 + 2);          // size of chunk nodes, reserved
  if (version >= 2) cursor.skip(1);              // flags
  const std::uint64_t base = cursor.address();
  if (version >= 2)
    superblock.extension = cursor.address();
  else
    (void)cursor.address();  // free space
  std::uint64_t end = cursor.address();
  std::uint64_t driver = undefined_address;
  if (version >= 2) {
    superblock.root = cursor.address();
  } else {
    driver = cursor.address();
    (void)cursor.address();  // name of the root group
    superblock.root = cursor.address();
  }
  if (version >= 2) require_checksum(ByteSpan(head).first(head.size() - cursor.left() + 4), "the superblock");
  // A block put in front of a finished file moves everything by as much.
  if (base != *place) end += *place - base;
  if (end > image.file().size())
    damaged(fmt::format("the file is cut off: it has {} bytes, expected {}", image.file().size(), end),
            "the file may be incomplete: compare its size with the original, or copy it again");
  image.set_base(*place);
  require_one_file(image, driver);
  return superblock;
}

}  // namespace sonde::hdf5
