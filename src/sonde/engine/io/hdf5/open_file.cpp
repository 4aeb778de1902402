// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/open_file.h"

#include "sonde/engine/io/hdf5/checksum.h"
#include "sonde/engine/io/hdf5/fractal_heap.h"

namespace sonde::hdf5 {
namespace {

/// Beyond this many links and messages what has been read is forgotten: about 100 MB.
constexpr std::size_t most_kept = 1000000;

void refuse_drivers(const OpenFile& file, std::uint64_t extension) {
  if (extension == undefined_address) return;
  if (file.header(extension)->find(MessageType::driver) != nullptr)
    unsupported("the data set is split over several files", "join the files with h5repack");
}

}  // namespace

std::shared_ptr<const OpenFile> OpenFile::open(const std::string& path) {
  return reading(path, [&] {
    std::shared_ptr<OpenFile> file(new OpenFile(path));
    if (file->image_.file().size() == 0)
      throw Error(ErrorKind::bad_file, fmt::format("{}: the file is empty", path))
          .hint("the program that wrote it may have been stopped: write or copy it again");
    if (!is_hdf5(file->image_)) throw Error(ErrorKind::bad_file, fmt::format("{}: not an HDF5 file", path));
    file->superblock_ = read_superblock(file->image_);
    refuse_drivers(*file, file->superblock_.extension);
    return std::shared_ptr<const OpenFile>(std::move(file));
  });
}

std::shared_ptr<const ObjectHeader> OpenFile::header(std::uint64_t address) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = headers_.find(address); found != headers_.end()) return found->second;
  }
  auto header = std::make_shared<const ObjectHeader>(read_object_header(image_, widths(), address));
  const std::lock_guard lock(mutex_);
  if ((kept_ += 4 + header->messages.size()) > most_kept) {
    headers_.clear();
    links_.clear();
    kept_ = header->messages.size();
  }
  headers_.emplace(address, header);
  return header;
}

std::shared_ptr<const Links> OpenFile::links(std::uint64_t address) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = links_.find(address); found != links_.end()) return found->second;
  }
  auto links = std::make_shared<const Links>(read_links(*this, *header(address)));
  const std::lock_guard lock(mutex_);
  kept_ += links->size();
  links_.emplace(address, links);
  return links;
}

Bytes OpenFile::body(unsigned type, bool shared, ByteSpan bytes) const {
  if (!shared) return {bytes.begin(), bytes.end()};
  Cursor cursor(bytes, widths());
  const unsigned version = cursor.byte(), place = cursor.byte();
  if (version < 1 || version > 3) damaged(fmt::format("a shared message of version {}", version));
  if (version == 1) cursor.skip(6);
  constexpr unsigned in_heap = 1;
  if (version == 3 && place == in_heap) return shared_message(type, cursor.take_bytes(8));
  const auto other = header(cursor.address());
  const Message* message = other->find(static_cast<MessageType>(type));
  if (message == nullptr || message->shared()) damaged("a shared message is not where it is expected");
  image_.charge(message->body.size());
  return {message->body.begin(), message->body.end()};
}

std::uint64_t OpenFile::shared_heap(unsigned type) const {
  if (superblock_.extension == undefined_address) damaged("a shared message in a file without such a heap");
  const auto extension = header(superblock_.extension);
  const Message* message = extension->find(MessageType::shared_table);
  if (message == nullptr) damaged("a shared message in a file without such a heap");
  Cursor where(message->body, widths());
  where.skip(1);  // version
  const std::uint64_t address = where.address();
  const unsigned indexes = where.byte();
  const std::uint64_t each = 1 + 1 + 2 + 4 + 2 + 2 + 2 + 2 * std::uint64_t{widths().address};
  const Bytes table = image_.read(address, 4 + indexes * each + 4);
  require_checksum(table, "the table of shared messages");
  Cursor cursor(table, widths());
  if (!cursor.take_if("SMTB")) damaged("there is no table of shared messages");
  for (unsigned i = 0; i < indexes; ++i) {
    cursor.skip(2);  // version, kind of index
    const unsigned types = cursor.take<std::uint16_t>();
    cursor.skip(4 + 2 + 2 + 2);
    (void)cursor.address();  // the index
    const std::uint64_t heap = cursor.address();
    if ((types >> type & 1u) != 0) return heap;
  }
  damaged("a shared message in a file without such a heap");
}

Bytes OpenFile::shared_message(unsigned type, ByteSpan id) const {
  return FractalHeap(image_, widths(), shared_heap(type)).object(id);
}

}  // namespace sonde::hdf5
