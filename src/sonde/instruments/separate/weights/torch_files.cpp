// SPDX-License-Identifier: Apache-2.0
// Containers of PyTorch (torch/serialization.py): a ZIP archive since 1.6, several pickles one after the other before.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/zip.h"
#include "sonde/instruments/separate/weights/formats.h"
#include "sonde/instruments/separate/weights/state_dict.h"

namespace sonde::separate {
namespace {

/// Entries of an archive by name, where they are in the mapped file.
class Archive {
 public:
  explicit Archive(const Checkpoint& checkpoint)
      : path_(checkpoint.path), mapped_(checkpoint.file->bytes()), zip_(checkpoint.path) {
    for (const ZipEntry& entry : zip_.entries()) {
      if (!entries_.emplace(entry.name, &entry).second)
        throw Error(ErrorKind::bad_file,
                    fmt::format("{}: two entries have the name {}", path_, printable(entry.name, 100)));
    }
  }

  /// "archive" of "archive/data.pkl".
  [[nodiscard]] std::string root() const {
    constexpr std::string_view suffix = "/data.pkl";
    for (const ZipEntry& entry : zip_.entries()) {
      if (entry.name.ends_with(suffix)) return entry.name.substr(0, entry.name.size() - suffix.size());
    }
    throw Error(ErrorKind::bad_file, path_ + ": a ZIP archive without data.pkl; expected a checkpoint of PyTorch");
  }

  [[nodiscard]] const ZipEntry* find(const std::string& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : at->second;
  }
  [[nodiscard]] const ZipEntry& need(const std::string& name) const {
    const ZipEntry* entry = find(name);
    if (entry == nullptr)
      throw Error(ErrorKind::bad_file, fmt::format("{}: has no entry {}", path_, printable(name, 100)))
          .hint("the copy may be incomplete");
    return *entry;
  }

  /// The entry's bytes, whose checksum check_used() compares.
  std::span<const std::byte> use(const ZipEntry& entry) {
    const std::uint64_t offset = zip_.offset(entry);
    if (offset > mapped_.size() || entry.bytes > mapped_.size() - offset)
      throw Error(ErrorKind::bad_file, path_ + ": became shorter while it was read");
    const auto bytes = mapped_.subspan(offset, entry.bytes);
    if (used_.emplace(&entry, bytes).second) used_bytes_ += bytes.size();
    // Parts of a file that are used twice would make a short file a long work.
    if (used_bytes_ > mapped_.size()) throw Error(ErrorKind::bad_file, path_ + ": its entries overlap");
    return bytes;
  }

  /// Compares the checksums of what was used. Entries that have none go to `unverified`.
  void check_used(std::vector<std::string>& unverified) const {
    std::vector<std::pair<const ZipEntry*, std::span<const std::byte>>> checked;
    for (const auto& [entry, bytes] : used_) {
      if (entry->crc == 0 && !bytes.empty())
        unverified.push_back(printable(entry->name, 100));
      else
        checked.emplace_back(entry, bytes);
    }
    parallel_for(static_cast<Index>(checked.size()), 1, [&](Index first, Index last, Worker&) {
      for (Index i = first; i < last; ++i) {
        const auto& [entry, bytes] = checked[static_cast<std::size_t>(i)];
        zip_.check(*entry, bytes);
      }
    });
  }

 private:
  const std::string& path_;
  std::span<const std::byte> mapped_;
  ZipReader zip_;
  std::map<std::string, const ZipEntry*, std::less<>> entries_;
  std::map<const ZipEntry*, std::span<const std::byte>> used_;
  std::uint64_t used_bytes_ = 0;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void require_bytes(std::span<const std::byte> bytes, const StorageId& storage, const std::string& path) {
  if (static_cast<std::uint64_t>(storage.count) > bytes.size() / size_bytes(storage.type))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: storage {} has {} bytes; expected {} elements of {} bytes", path,
                            printable(storage.key, 100), bytes.size(), storage.count, size_bytes(storage.type)))
        .hint("the copy may be incomplete");
}

constexpr std::string_view legacy_mark = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr Index legacy_version = 1001;

}  // namespace

void read_torch_zip(Checkpoint& checkpoint, const std::string& state_key) {
  checkpoint.format = "PyTorch";
  Archive archive(checkpoint);
  const std::string root = archive.root();
  if (const ZipEntry* order = archive.find(root + "/byteorder")) {
    if (as_text(archive.use(*order)) != "little")
      throw Error(ErrorKind::not_supported, checkpoint.path + ": was written on a big-endian machine")
          .hint("load it with PyTorch on this machine and save it again");
  }
  const std::string name = root + "/data.pkl";
  const Pickle pickle = Pickle::read(archive.use(archive.need(name)), checkpoint.path + ": " + printable(name, 100));
  read_state_dict(checkpoint, pickle, state_key, [&](const StorageId& storage) {
    const auto bytes = archive.use(archive.need(fmt::format("{}/data/{}", root, storage.key)));
    require_bytes(bytes, storage, checkpoint.path);
    return bytes;
  });
  archive.check_used(checkpoint.unverified);
}

bool is_torch_legacy(std::span<const std::byte> bytes) {
  // PROTO, the protocol, LONG1 and its length come before the number.
  return as_text(bytes.first(std::min<std::size_t>(bytes.size(), 16))).substr(0, 14).ends_with(legacy_mark);
}

void read_torch_legacy(Checkpoint& checkpoint, const std::string& state_key) {
  checkpoint.format = "PyTorch before 1.6";
  std::span<const std::byte> left = checkpoint.file->bytes();
  const auto next = [&](const char* what) {
    Pickle pickle = Pickle::read(left, fmt::format("{}: {}", checkpoint.path, what));
    left = left.subspan(pickle.bytes());
    return pickle;
  };
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorKind::bad_file, fmt::format("{}: {}", checkpoint.path, why)).hint("the copy may be incomplete");
  };
  static_cast<void>(next("mark"));
  const Pickle version = next("version");
  if (version[version.root()].whole != legacy_version)
    throw wrong(fmt::format("version {} of the format; expected {}", version[version.root()].whole, legacy_version));
  const Pickle system = next("system");
  const auto little = system.find(system.root(), "little_endian");
  if (little && system[*little].whole == 0)
    throw Error(ErrorKind::not_supported, checkpoint.path + ": was written on a big-endian machine");

  const Pickle pickle = next("object");
  const Pickle keys = next("storage keys");
  std::map<std::string_view, StorageId> described;
  for (const Pickle::Id id : pickle.persistent()) {
    const StorageId storage = storage_id(pickle, id, checkpoint.path);
    described.emplace(storage.key, storage);
  }
  std::map<std::string_view, std::span<const std::byte>> storages;
  for (const Pickle::Id id : keys.members(keys.root())) {
    const auto at = described.find(keys[id].text);
    if (keys[id].kind != Pickle::Kind::text || at == described.end()) throw wrong("a storage that nothing describes");
    const StorageId& storage = at->second;
    if (left.size() < sizeof(std::uint64_t)) throw wrong("it ends before its last storage");
    const auto count = load_little<std::uint64_t>(left.data());
    left = left.subspan(sizeof(std::uint64_t));
    if (count != static_cast<std::uint64_t>(storage.count))
      throw wrong(
          fmt::format("storage {} has {} elements; expected {}", printable(storage.key, 100), count, storage.count));
    require_bytes(left, storage, checkpoint.path);
    const std::size_t bytes = count * size_bytes(storage.type);
    storages.emplace(storage.key, left.first(bytes));
    left = left.subspan(bytes);
  }
  read_state_dict(checkpoint, pickle, state_key, [&](const StorageId& storage) {
    const auto at = storages.find(storage.key);
    if (at == storages.end()) throw wrong(fmt::format("has no storage {}", printable(storage.key, 100)));
    require_bytes(at->second, storage, checkpoint.path);
    return at->second;
  });
}

}  // namespace sonde::separate
