// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/object.h"

#include <filesystem>

namespace sonde::hdf5 {
namespace {

constexpr int most_links = 16;

/// Takes the next name off the front of a path.
std::string_view take_name(std::string_view& path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  return name;
}

/// Walks a path. Links put what they name in front of what is left.
class Walk {
 public:
  explicit Walk(std::shared_ptr<const OpenFile> file) : file_(std::move(file)), group_(file_->root()) {}

  Found follow(std::string_view path) {
    try {
      for (std::string_view name = take_name(path); !name.empty(); name = take_name(path))
        if (!step(name)) return {std::nullopt, why_not_};
      return {Object{file_, file_->header(group_)}, ""};
    } catch (const Fault& fault) {  // in the file where the search is now
      reading(file_->path(), [&]() -> void { throw fault; });
      throw;
    }
  }

 private:
  bool absent(std::string why) {
    why_not_ = std::move(why);
    return false;
  }

  bool step(std::string_view name) {
    if (name == ".") return true;
    if (!file_->header(group_)->is_group()) return absent(fmt::format("{} is not inside a group", name));
    const auto links = file_->links(group_);
    const StoredLink* link = find_link(*links, name);
    if (link == nullptr) return absent(fmt::format("there is no {}", name));
    if (link->link.kind == Hdf5Link::Kind::hard) {
      group_ = link->address;
      return true;
    }
    if (++followed_ > most_links) return absent("its links lead to each other without an end");
    if (link->link.kind == Hdf5Link::Kind::external && !enter_file(link->link)) return false;
    std::string_view target = link->link.object;
    if (target.starts_with('/') || link->link.kind == Hdf5Link::Kind::external) group_ = file_->root();
    const std::string kept(target);  // the group that owns it may be forgotten meanwhile
    target = kept;
    for (std::string_view next = take_name(target); !next.empty(); next = take_name(target))
      if (!step(next)) return false;
    return true;
  }

  bool enter_file(const Hdf5Link& link) {
    const std::string path = locate(file_->path(), link.file);
    try {
      file_ = OpenFile::open(path);
      return true;
    } catch (const Error& error) {
      return absent(error.message());
    }
  }

  std::shared_ptr<const OpenFile> file_;
  std::uint64_t group_;
  int followed_ = 0;
  std::string why_not_;
};

}  // namespace

Found find_object(const std::shared_ptr<const OpenFile>& file, std::string_view path) {
  return Walk(file).follow(path);
}

std::optional<Hdf5Link> find_link_at(const std::shared_ptr<const OpenFile>& file, std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.find_last_of('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const Found group = find_object(file, path.substr(0, path.size() - name.size()));
  if (!group.object || !group.object->header->is_group()) return std::nullopt;
  const auto links = group.object->file->links(group.object->header->address);
  const StoredLink* link = find_link(*links, name);
  return link != nullptr ? std::optional(link->link) : std::nullopt;
}

std::string locate(const std::string& beside, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path wanted(name), folder = fs::path(beside).parent_path();
  const fs::path last = wanted.is_absolute() ? wanted.filename() : wanted;
  if (wanted.is_absolute() && fs::exists(wanted, code)) return name;
  const fs::path first = folder / last;
  if (fs::exists(first, code)) return first.string();
  if (const fs::path real = fs::canonical(beside, code); !code && fs::exists(real.parent_path() / last, code))
    return (real.parent_path() / last).string();
  if (fs::exists(last, code)) return last.string();
  return wanted.is_absolute() ? name : first.string();
}

}  // namespace sonde::hdf5
