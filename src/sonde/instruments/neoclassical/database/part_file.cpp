// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"

namespace sonde::neoclassical {
namespace {

constexpr std::string_view magic = "sonde.neoclassical.part/1\n";

using Record = std::array<std::uint64_t, 16>;  // fifteen values and their checksum

/// FNV-1a, 64 bits: against records cut in two and bytes gone bad, not against malice.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  return sum;
}

std::uint64_t checksum(const Record& record) { return checksum(std::as_bytes(std::span(record).first(15))); }

Record packed(const FinishedPoint& point) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const auto whole = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  Record record{whole(point.radius),
                whole(point.nu),
                whole(point.field),
                bits(point.D11),
                bits(point.D31),
                bits(point.D13),
                bits(point.D33),
                bits(point.D33_spitzer),
                bits(point.residual),
                bits(point.onsager_residual),
                whole(point.n_xi_used),
                whole(point.path_code),
                whole(point.status),
                bits(point.seconds),
                whole(point.precision_code),
                0};
  record[15] = checksum(record);
  return record;
}

FinishedPoint unpacked(const Record& record) {
  const auto number = [&](std::size_t i) { return std::bit_cast<double>(record[i]); };
  const auto whole = [&](std::size_t i) { return static_cast<Index>(record[i]); };
  const auto small = [&](std::size_t i) { return static_cast<int>(record[i]); };
  return {whole(0),  whole(1),  whole(2),  number(3), number(4), number(5),  number(6), number(7),
          number(8), number(9), small(10), small(11), small(12), number(13), small(14)};
}

/// Magic, length of the key, key, checksum of all before.
std::string header_of(const std::string& key) {
  std::string header(magic);
  const auto add = [&](std::uint64_t value) { header.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(key.size());
  header += key;
  add(checksum(std::as_bytes(std::span(header))));
  return header;
}

/// The key of a file, which is why nothing may be thrown away where it cannot be read. Throws Error(bad_file).
std::string key_of(const File& file, const std::string& path) {
  const Error damaged = Error(ErrorKind::bad_file, fmt::format("{}: the settings at its beginning are damaged", path))
                            .hint("move it away, or give the output another name");
  const std::size_t before = magic.size() + sizeof(std::uint64_t), after = sizeof(std::uint64_t);
  if (file.size() < before + after) throw damaged;
  std::uint64_t length = 0;
  file.read_at(magic.size(), std::as_writable_bytes(std::span(&length, 1)));
  if (length > file.size() - before - after) throw damaged;
  std::string key(length, '\0');
  file.read_at(before, std::as_writable_bytes(std::span(key)));
  const std::string header = header_of(key);
  std::string start(header.size(), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(start)));
  if (start != header) throw damaged;
  return key;
}

/// "name = value" lines.
std::map<std::string, std::string> settings_of(const std::string& key) {
  std::map<std::string, std::string> settings;
  for (const std::string& line : split(key, '\n')) {
    const std::size_t at = line.find(" = ");
    settings[line.substr(0, at)] = at == std::string::npos ? "" : line.substr(at + 3);
  }
  return settings;
}

std::string shortened(const std::string& value) {
  constexpr std::size_t most = 60;
  return value.size() <= most ? value : value.substr(0, most) + "...";
}

/// What differs, in the order of the key that is asked for.
Error other_settings(const std::string& path, const std::string& there, const std::string& asked) {
  const std::map<std::string, std::string> old = settings_of(there), now = settings_of(asked);
  std::vector<std::string> differing;
  for (const std::string& line : split(asked, '\n')) {
    const std::string name = line.substr(0, line.find(" = "));
    const auto found = old.find(name);
    if (found == old.end())
      differing.push_back(fmt::format("{} is not in it", name));
    else if (found->second != now.at(name))
      differing.push_back(
          fmt::format("{} is {} there and {} now", name, shortened(found->second), shortened(now.at(name))));
  }
  for (const auto& [name, value] : old)
    if (!now.contains(name)) differing.push_back(fmt::format("{} is {} there", name, shortened(value)));
  return Error(ErrorKind::bad_input,
               fmt::format("{}: holds points of other settings: {}", path, fmt::join(differing, "; ")))
      .hint(
          "the earlier settings continue with them; another name of the output, or moving that file away, begins anew");
}

Error io_error(const std::string& path, const char* what) {
  Error failure(ErrorKind::io, fmt::format("{}: {} failed: {}", path, what, std::strerror(errno)));
  if (errno == ENOSPC || errno == EDQUOT) failure.hint("free space there, or write to another disk");
  return failure;
}

/// All bytes or an error.
void write_all(int descriptor, const std::string& path, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) throw io_error(path, "writing");
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
}

}  // namespace

OutputRole PartFile::role() { return {.what = "the file of finished points", .continues = true}; }

PartFile::PartFile(std::string path, const std::string& key) : path_(std::move(path)) {
  require_place(path_, role());
  note_continued(path_);
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw io_error(path_, "opening");
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      throw Error(ErrorKind::io, fmt::format("{}: another process is writing it", path_)).hint("wait for it to end");
    const std::string header = header_of(key);
    const File file(path_);
    std::string start(std::min<std::size_t>(header.size(), file.size()), '\0');
    file.read_at(0, std::as_writable_bytes(std::span(start)));
    const std::size_t compared = std::min(start.size(), magic.size());
    if (start.compare(0, compared, magic, 0, compared) != 0)
      throw Error(ErrorKind::bad_file, fmt::format("{}: is not a file of finished points", path_))
          .hint("move it away, or give the output another name");
    if (start == header) {
      read_records(header.size());
    } else if (header.starts_with(start)) {  // ended while it was begun: there is no point in it
      begin(header);
    } else {
      throw other_settings(path_, key_of(file, path_), key);
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PartFile::begin(const std::string& header) {
  if (::ftruncate(descriptor_, 0) != 0) throw io_error(path_, "truncating");
  write_all(descriptor_, path_, std::as_bytes(std::span(header)), 0);
  bytes_ = header.size();
}

void PartFile::read_records(std::size_t header_bytes) {
  const File file(path_);
  bytes_ = header_bytes;
  std::map<std::tuple<Index, Index, Index>, std::size_t> seen;
  for (Record record{}; bytes_ + sizeof record <= file.size(); bytes_ += sizeof record) {
    file.read_at(bytes_, std::as_writable_bytes(std::span(record)));
    if (record[15] != checksum(record)) break;
    const FinishedPoint point = unpacked(record);
    const auto [place, fresh] = seen.try_emplace({point.radius, point.nu, point.field}, earlier_.size());
    if (fresh)
      earlier_.push_back(point);
    else
      earlier_[place->second] = point;  // it was solved again, to a smaller tolerance
  }
  if (bytes_ < file.size()) {
    left_out_ = fmt::format("{} bytes at the end are not whole records", file.size() - bytes_);
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) throw io_error(path_, "truncating");
  }
}

void PartFile::append(const FinishedPoint& point) {
  const Record record = packed(point);
  const std::scoped_lock lock(mutex_);
  try {
    write_all(descriptor_, path_, std::as_bytes(std::span(record)), bytes_);
  } catch (...) {
    static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0);
    throw;
  }
  bytes_ += sizeof record;
}

void PartFile::remove() {
  const std::scoped_lock lock(mutex_);
  if (::unlink(path_.c_str()) != 0) throw io_error(path_, "removing");
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace sonde::neoclassical
