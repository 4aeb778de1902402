// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/image.h"

#include <sys/stat.h>

#include <algorithm>

namespace sonde::hdf5 {
namespace {

constexpr std::uint64_t structure_bytes = 64;  // reading a structure costs more than its bytes

std::uint64_t bytes_on_disk(const File& file) {
  struct stat status {};
  constexpr std::uint64_t block = 512;  // POSIX leaves it open, Linux has it for every file system
  // Some file systems count no blocks at all.
  if (::fstat(file.descriptor(), &status) != 0 || status.st_blocks <= 0) return file.size();
  return std::min(file.size(), static_cast<std::uint64_t>(status.st_blocks) * block);
}

}  // namespace

Image::Image(const std::string& path) : file_(path), stored_bytes_(bytes_on_disk(file_)) {}

FileIdentity Image::identity() const {
  struct stat status {};
  if (::fstat(file_.descriptor(), &status) != 0) return {0, 0};
  return {status.st_dev, status.st_ino};
}

void Image::require(std::uint64_t address, std::uint64_t count) const {
  if (room(address) < count)
    damaged(fmt::format("{} bytes at address {} are not inside the file of {} bytes", count, address, file_.size()));
}

void Image::charge(std::uint64_t bytes) const {
  // A sound file is read once or a few times, and even a small one may hold many small things.
  const std::uint64_t limit = (std::uint64_t{256} << 20) + 64 * std::min(stored_bytes_, std::uint64_t{1} << 50);
  if ((spent_ += bytes) > limit) {
    spent_ = limit;
    damaged("its structures are larger than the file, or refer to the same bytes again and again");
  }
}

const Image::Block& Image::block(std::uint64_t number) const {
  if (const auto found = blocks_.find(number); found != blocks_.end()) return *found->second;
  if (blocks_.size() >= most_blocks) blocks_.clear();
  auto fresh = std::make_unique<Block>();
  const std::uint64_t first = number * block_bytes;
  file_.read_at(first, std::span(*fresh).first(std::min(block_bytes, file_.size() - first)));
  return *blocks_.emplace(number, std::move(fresh)).first->second;
}

Bytes Image::read(std::uint64_t address, std::uint64_t count) const {
  require(address, count);
  if (count > 4 * block_bytes) return read_once(address, count);
  charge(count + structure_bytes);
  Bytes bytes(count);
  std::uint64_t at = base_ + address;
  const std::lock_guard lock(mutex_);
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t inside = at % block_bytes, part = std::min(block_bytes - inside, count - done);
    std::memcpy(bytes.data() + done, block(at / block_bytes).data() + inside, part);
    done += part;
    at += part;
  }
  return bytes;
}

Bytes Image::read_once(std::uint64_t address, std::uint64_t count) const {
  require(address, count);
  charge(count + structure_bytes);
  Bytes bytes(count);
  if (count > 0) file_.read_at(base_ + address, bytes);
  return bytes;
}

Bytes Image::read_most(std::uint64_t address, std::uint64_t count) const {
  if (room(address) == 0) require(address, 1);
  return read(address, std::min(count, room(address)));
}

void Image::read_elements(std::uint64_t address, std::span<std::byte> bytes) const {
  require(address, bytes.size());
  if (!bytes.empty()) file_.read_at(base_ + address, bytes);
}

}  // namespace sonde::hdf5
