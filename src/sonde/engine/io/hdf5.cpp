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

#include "sonde/engine/io/hdf5/attributes.h"
#include "sonde/engine/io/hdf5/convert.h"
#include "sonde/engine/io/hdf5/dataset.h"
#include "sonde/engine/io/hdf5/global_heap.h"
#include "sonde/engine/io/hdf5/object.h"

namespace sonde {
namespace {

using hdf5::Object;
using hdf5::OpenFile;

constexpr Index most_in_attribute = 65536;

std::string join_path(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

/// Types that are not read are no reason to refuse what is beside them.
template <class Body>
void unless_unsupported(Body&& body) {
  try {
    body();
  } catch (const hdf5::Fault& fault) {
    if (fault.kind != ErrorKind::not_supported) throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_supported) throw;
  }
}

std::optional<Hdf5Value> value_of(const OpenFile& file, const hdf5::StoredAttribute& attribute, Index most) {
  if (!hdf5::has_value(attribute.type, attribute.space, most)) return std::nullopt;
  return hdf5::to_value(file.image(), file.widths(), attribute.type, attribute.space, attribute.bytes);
}

std::map<std::string, Hdf5Value> attributes_of(const Object& object, Index most) {
  std::map<std::string, Hdf5Value> values;
  unless_unsupported([&] {
    hdf5::for_each_attribute(*object.file, *object.header, [&](const hdf5::StoredAttribute& attribute) {
      if (auto value = value_of(*object.file, attribute, most)) values.emplace(attribute.name, std::move(*value));
      return true;
    });
  });
  return values;
}

/// Visits every object that hard links reach, each once (by its address: files may hold cycles), with the first of its
/// paths in natural order.
void visit_objects(const std::shared_ptr<const OpenFile>& file,
                   const std::function<void(const Object&, const std::string&)>& visit) {
  struct Place {
    std::uint64_t address;
    std::string path;
    int depth;
  };
  constexpr int most_depth = 1000;
  std::set<std::uint64_t> seen;
  std::vector<Place> waiting{{file->root(), "/", 0}};
  while (!waiting.empty()) {
    const Place place = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(place.address).second) continue;
    if (place.depth > most_depth) hdf5::damaged(fmt::format("groups nest deeper than {}", most_depth));
    const Object object{file, file->header(place.address)};
    visit(object, place.path);
    if (!object.header->is_group()) continue;
    const auto links = file->links(place.address);
    for (auto link = links->rbegin(); link != links->rend(); ++link)  // the last one waits longest
      if (link->link.kind == Hdf5Link::Kind::hard && !seen.contains(link->address))
        waiting.push_back({link->address, join_path(place.path, link->link.name), place.depth + 1});
    file->image().charge(links->size() * (place.path.size() + 64));
  }
}

/// The first object that each row of an attribute of references names, by its address; undefined_address for empty
/// rows.
std::vector<std::uint64_t> first_references(const OpenFile& file, const hdf5::StoredAttribute& attribute) {
  std::vector<std::uint64_t> addresses;
  const hdf5::Datatype& type = attribute.type;
  if (type.kind != hdf5::Datatype::Kind::variable_length || type.variable_text || attribute.space.null ||
      type.base().kind != hdf5::Datatype::Kind::reference || attribute.space.extents.size() > Shape::max_rank)
    return addresses;
  hdf5::GlobalHeap heap(file.image(), file.widths());
  hdf5::Cursor rows(attribute.bytes, file.widths());
  for (std::uint64_t i = 0; i < attribute.space.count(); ++i) {
    const auto count = rows.take<std::uint32_t>();
    const std::uint64_t collection = rows.address();
    const auto number = rows.take<std::uint32_t>();
    const bool empty = count == 0 || collection == 0 || collection == hdf5::undefined_address;
    addresses.push_back(empty ? hdf5::undefined_address
                              : hdf5::Cursor(heap.object(collection, number), file.widths()).address());
  }
  return addresses;
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
  Hdf5File file;
  file.path_ = path;
  file.opened_ = OpenFile::open(path);
  return file;
}

bool Hdf5File::exists(const std::string& object) const {
  return hdf5::reading(path_, [&] { return find_object(opened_, object).object.has_value(); });
}

bool Hdf5File::is_group(const std::string& object) const {
  return hdf5::reading(path_, [&] {
    const auto found = find_object(opened_, object).object;
    return found && found->header->is_group();
  });
}

bool Hdf5File::is_dataset(const std::string& object) const {
  return hdf5::reading(path_, [&] {
    const auto found = find_object(opened_, object).object;
    return found && found->header->is_dataset();
  });
}

std::vector<Hdf5Link> Hdf5File::list(const std::string& group) const {
  return hdf5::reading(path_, [&] {
    std::vector<Hdf5Link> links;
    const auto found = find_object(opened_, group).object;
    if (!found || !found->header->is_group()) return links;
    for (const hdf5::StoredLink& link : *found->file->links(found->header->address)) links.push_back(link.link);
    return links;
  });
}

std::optional<Hdf5Link> Hdf5File::link(const std::string& path) const {
  return hdf5::reading(path_, [&] { return find_link_at(opened_, path); });
}

std::vector<std::string> Hdf5File::datasets() const {
  return hdf5::reading(path_, [&] {
    std::vector<std::string> paths;
    visit_objects(opened_, [&](const Object& object, const std::string& path) {
      if (object.header->is_dataset()) paths.push_back(path);
    });
    return paths;
  });
}

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const hdf5::Found found = hdf5::reading(path_, [&] { return find_object(opened_, path); });
  if (!found.object || !found.object->header->is_dataset())
    throw Error(ErrorKind::bad_file, fmt::format("{}, {}: no such data set ({})", path_, path,
                                                 found.object ? "it is a group or a type" : found.why_not));
  Hdf5Dataset dataset;
  dataset.path_ = path;
  dataset.file_path_ = found.object->file->path();
  dataset.opened_ = hdf5::reading(dataset.file_path_, path,
                                  [&] { return std::make_shared<const hdf5::Dataset>(*found.object, path); });
  dataset.info_ = describe(*dataset.opened_);
  return dataset;
}

std::optional<Hdf5Value> Hdf5File::value(const std::string& path, Index most) const {
  const hdf5::Found found = hdf5::reading(path_, [&] { return find_object(opened_, path); });
  if (!found.object || !found.object->header->is_dataset()) return std::nullopt;
  return hdf5::reading(found.object->file->path(), path, [&] {
    std::optional<Hdf5Value> value;
    unless_unsupported([&] { value = hdf5::Dataset(*found.object, path).value(most); });
    return value;
  });
}

std::optional<Hdf5Value> Hdf5File::attribute(const std::string& object, const std::string& name) const {
  return hdf5::reading(path_, object, [&] {
    std::optional<Hdf5Value> value;
    const auto found = find_object(opened_, object).object;
    if (!found) return value;
    unless_unsupported([&] {
      hdf5::for_each_attribute(*found->file, *found->header, [&](const hdf5::StoredAttribute& attribute) {
        if (attribute.name != name) return true;
        value = value_of(*found->file, attribute, most_in_attribute);
        return false;
      });
    });
    return value;
  });
}

std::map<std::string, Hdf5Value> Hdf5File::attributes(const std::string& object) const {
  return hdf5::reading(path_, object, [&] {
    const auto found = find_object(opened_, object).object;
    return found ? attributes_of(*found, most_in_attribute) : std::map<std::string, Hdf5Value>();
  });
}

std::vector<std::string> Hdf5File::dimension_scales(const std::string& dataset) const {
  return hdf5::reading(path_, dataset, [&] {
    std::vector<std::uint64_t> addresses;
    const auto found = find_object(opened_, dataset).object;
    if (found)
      unless_unsupported([&] {
        hdf5::for_each_attribute(*found->file, *found->header, [&](const hdf5::StoredAttribute& attribute) {
          if (attribute.name != "DIMENSION_LIST") return true;
          addresses = first_references(*found->file, attribute);
          return false;
        });
      });
    std::vector<std::string> scales(addresses.size());
    if (!addresses.empty())
      visit_objects(found->file, [&](const Object& object, const std::string& path) {
        for (std::size_t i = 0; i < scales.size(); ++i)
          if (addresses[i] == object.header->address && object.header->is_dataset()) scales[i] = path;
      });
    return scales;
  });
}

std::map<std::string, Hdf5Value> Hdf5File::small_values(Index most) const {
  return hdf5::reading(path_, [&] {
    std::map<std::string, Hdf5Value> values;
    visit_objects(opened_, [&](const Object& object, const std::string& path) {
      if (object.header->is_dataset())
        unless_unsupported([&] {
          if (auto value = hdf5::Dataset(object, path).value(most)) values.emplace(path, std::move(*value));
        });
      for (auto& [name, value] : attributes_of(object, most))
        values.emplace(fmt::format("{}@{}", path, name), std::move(value));
    });
    return values;
  });
}

}  // namespace sonde
