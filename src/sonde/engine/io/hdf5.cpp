// SPDX-License-Identifier: Apache-2.0
// Files, groups, links and attributes; data sets are in hdf5_dataset.cpp.
#include "sonde/engine/io/hdf5.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5_library.h"

namespace sonde {
namespace {

using hdf5::Session;

herr_t collect_name(hid_t, const char* name, const H5L_info_t*, void* target) {
  static_cast<std::vector<std::string>*>(target)->emplace_back(name);
  return 0;
}

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names);
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

std::optional<Hdf5Link> link_in(hid_t place, const std::string& name) {
  H5L_info_t info;
  if (H5Lget_info(place, name.c_str(), &info, H5P_DEFAULT) < 0) return std::nullopt;
  Hdf5Link link;
  link.name = name;
  if (info.type == H5L_TYPE_HARD) return link;
  std::vector<char> value(info.u.val_size + 1, '\0');
  if (H5Lget_val(place, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) return std::nullopt;
  if (info.type == H5L_TYPE_SOFT) {
    link.kind = Hdf5Link::Kind::soft;
    link.object = value.data();
    return link;
  }
  const char *file = nullptr, *object = nullptr;
  if (info.type != H5L_TYPE_EXTERNAL || H5Lunpack_elink_val(value.data(), info.u.val_size, nullptr, &file, &object) < 0)
    return std::nullopt;
  link.kind = Hdf5Link::Kind::external;
  link.file = file;
  link.object = object;
  return link;
}

std::string join_path(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

std::map<std::string, Hdf5Value> attributes_of(hid_t object, Index most) {
  std::map<std::string, Hdf5Value> values;
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) < 0) return values;
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Hdf5Handle attribute(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, H5P_DEFAULT, H5P_DEFAULT));
    if (!attribute.valid()) continue;
    const ssize_t length = H5Aget_name(attribute.id(), 0, nullptr);
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
    H5Aget_name(attribute.id(), name.size(), name.data());
    name.pop_back();
    if (auto value = hdf5::read_value(attribute.id(), true, most)) values.emplace(name, std::move(*value));
  }
  return values;
}

/// Visits every object that hard links reach, each once (by its address: files may hold cycles), with the first of its
/// paths in natural order.
void visit_objects(hid_t object, const std::string& path, std::set<haddr_t>& seen,
                   const std::function<void(hid_t, const std::string&, H5O_type_t)>& visit) {
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 || !seen.insert(info.addr).second) return;
  visit(object, path, info.type);
  if (info.type != H5O_TYPE_GROUP) return;
  for (const std::string& name : names_in(object)) {
    const auto link = link_in(object, name);
    if (!link || link->kind != Hdf5Link::Kind::hard) continue;
    const Hdf5Handle child(H5Oopen(object, name.c_str(), H5P_DEFAULT));
    if (child.valid()) visit_objects(child.id(), join_path(path, name), seen, visit);
  }
}

std::optional<H5O_type_t> type_of_object(hid_t file, const std::string& path) {
  const Hdf5Handle object(H5Oopen(file, path.c_str(), H5P_DEFAULT));
  H5O_info_t info;
  if (!object.valid() || H5Oget_info2(object.id(), &info, H5O_INFO_BASIC) < 0) return std::nullopt;
  return info.type;
}

void check_readable(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found)
    throw Error(ErrorKind::bad_file, fmt::format("{}: no such file", path));
  if (status.type() == std::filesystem::file_type::directory)
    throw Error(ErrorKind::bad_file, fmt::format("{}: a folder, expected an HDF5 file", path));
  if (::access(path.c_str(), R_OK) != 0)
    throw Error(ErrorKind::io, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)))
        .hint("check the permissions of the file and of its folders");
}

}  // namespace

Hdf5File Hdf5File::open(const std::string& path) {
  check_readable(path);
  const Session session;
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) == 0 && !unknown)
    throw Error(ErrorKind::bad_file, fmt::format("{}: the file is empty", path))
        .hint("whoever wrote it may have been stopped: write or copy it again");
  if (H5Fis_hdf5(path.c_str()) <= 0) throw Error(ErrorKind::bad_file, fmt::format("{}: not an HDF5 file", path));

  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // Locks are refused by many network and read-only file systems, and reading needs none.
  H5Pset_file_locking(access.id(), false, true);
  Hdf5File file;
  file.path_ = path;
  file.handle_ = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()));
  if (!file.handle_.valid())
    throw hdf5::error(ErrorKind::bad_file, fmt::format("{}: the HDF5 file cannot be opened", path))
        .hint("the file may be incomplete: compare its size with the original, or copy it again");
  return file;
}

bool Hdf5File::exists(const std::string& object) const {
  const Session session;
  return type_of_object(handle_.id(), object).has_value();
}

bool Hdf5File::is_group(const std::string& object) const {
  const Session session;
  return type_of_object(handle_.id(), object) == H5O_TYPE_GROUP;
}

bool Hdf5File::is_dataset(const std::string& object) const {
  const Session session;
  return type_of_object(handle_.id(), object) == H5O_TYPE_DATASET;
}

std::vector<Hdf5Link> Hdf5File::list(const std::string& group) const {
  const Session session;
  std::vector<Hdf5Link> links;
  const Hdf5Handle handle(H5Gopen2(handle_.id(), group.c_str(), H5P_DEFAULT));
  if (!handle.valid()) return links;
  for (const std::string& name : names_in(handle.id()))
    if (auto link = link_in(handle.id(), name)) links.push_back(std::move(*link));
  return links;
}

std::optional<Hdf5Link> Hdf5File::link(const std::string& path) const {
  const Session session;
  auto link = link_in(handle_.id(), path);
  if (link) link->name = path.substr(path.find_last_of('/') + 1);
  return link;
}

std::vector<std::string> Hdf5File::datasets() const {
  const Session session;
  std::vector<std::string> paths;
  std::set<haddr_t> seen;
  const Hdf5Handle root(H5Oopen(handle_.id(), "/", H5P_DEFAULT));
  visit_objects(root.id(), "/", seen, [&](hid_t, const std::string& path, H5O_type_t type) {
    if (type == H5O_TYPE_DATASET) paths.push_back(path);
  });
  return paths;
}

std::optional<Hdf5Value> Hdf5File::value(const std::string& path, Index most) const {
  const Session session;
  const Hdf5Handle dataset(H5Dopen2(handle_.id(), path.c_str(), H5P_DEFAULT));
  if (!dataset.valid()) return std::nullopt;
  return hdf5::read_value(dataset.id(), false, most);
}

std::optional<Hdf5Value> Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const Session session;
  const Hdf5Handle attribute(H5Aopen_by_name(handle_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.valid()) return std::nullopt;
  return hdf5::read_value(attribute.id(), true, 65536);
}

std::map<std::string, Hdf5Value> Hdf5File::attributes(const std::string& object) const {
  const Session session;
  const Hdf5Handle handle(H5Oopen(handle_.id(), object.c_str(), H5P_DEFAULT));
  if (!handle.valid()) return {};
  return attributes_of(handle.id(), 65536);
}

std::map<std::string, Hdf5Value> Hdf5File::small_values(Index most) const {
  const Session session;
  std::map<std::string, Hdf5Value> values;
  std::set<haddr_t> seen;
  const Hdf5Handle root(H5Oopen(handle_.id(), "/", H5P_DEFAULT));
  visit_objects(root.id(), "/", seen, [&](hid_t object, const std::string& path, H5O_type_t type) {
    if (type == H5O_TYPE_DATASET)
      if (auto value = hdf5::read_value(object, false, most)) values.emplace(path, std::move(*value));
    for (auto& [name, value] : attributes_of(object, most))
      values.emplace(fmt::format("{}@{}", path, name), std::move(value));
  });
  return values;
}

}  // namespace sonde
