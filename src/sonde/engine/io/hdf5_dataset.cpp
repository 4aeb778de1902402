// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_library.h"

namespace sonde {
namespace {

using hdf5::check;
using hdf5::own;
using hdf5::Session;

std::vector<Hdf5Filter> filters_of(hid_t properties) {
  std::vector<Hdf5Filter> filters;
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; ++i) {
    Hdf5Filter filter;
    unsigned flags = 0;
    std::size_t values = 64;
    filter.client_data.resize(values);
    char name[256] = "";
    filter.id = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, filter.client_data.data(),
                               sizeof name, name, nullptr);
    filter.client_data.resize(std::min<std::size_t>(values, 64));
    filter.name = name;
    filter.optional = (flags & H5Z_FLAG_OPTIONAL) != 0;
    filters.push_back(std::move(filter));
  }
  return filters;
}

Hdf5DatasetInfo::Layout layout_of(hid_t properties) {
  switch (H5Pget_layout(properties)) {
    case H5D_COMPACT:
      return Hdf5DatasetInfo::Layout::compact;
    case H5D_CHUNKED:
      return Hdf5DatasetInfo::Layout::chunked;
    case H5D_VIRTUAL:
      return Hdf5DatasetInfo::Layout::virtual_parts;
    default:
      return Hdf5DatasetInfo::Layout::contiguous;
  }
}

Hdf5DatasetInfo describe(hid_t dataset, const std::string& what) {
  Hdf5DatasetInfo info;
  const Hdf5Handle type = own(H5Dget_type(dataset), what);
  const Hdf5Handle space = own(H5Dget_space(dataset), what);
  const Hdf5Handle properties = own(H5Dget_create_plist(dataset), what);
  info.shape = hdf5::shape_of(space.id(), what);
  info.dtype = hdf5::dtype_of_stored(type.id());
  info.element_bytes = H5Tget_size(type.id());
  info.big_endian = hdf5::stored_big_endian(type.id());
  info.type_text = hdf5::text_of_stored(type.id());
  info.layout = layout_of(properties.id());
  info.filters = filters_of(properties.id());
  info.stored_bytes = H5Dget_storage_size(dataset);
  if (info.layout == Hdf5DatasetInfo::Layout::chunked) {
    std::vector<hsize_t> chunk(static_cast<std::size_t>(info.shape.rank()));
    check(H5Pget_chunk(properties.id(), info.shape.rank(), chunk.data()), what + ": the chunk shape cannot be read");
    info.chunk = hdf5::to_shape(chunk);
  }
  if (info.dtype) {
    const Hdf5Handle native = own(H5Tget_native_type(type.id(), H5T_DIR_ASCEND), what);
    info.fill.resize(size_bytes(*info.dtype));
    if (H5Pget_fill_value(properties.id(), native.id(), info.fill.data()) < 0)
      std::fill(info.fill.begin(), info.fill.end(), std::byte{0});
  }
  if (info.layout == Hdf5DatasetInfo::Layout::contiguous && H5Pget_external_count(properties.id()) <= 0) {
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset != HADDR_UNDEF) info.data_offset = offset;
  }
  H5O_info_t object;
  check(H5Oget_info2(dataset, &object, H5O_INFO_BASIC), what);
  info.header_address = object.addr;
  return info;
}

std::string file_of(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.pop_back();
  return name;
}

/// The box that a selection spans.
bool selection_box(hid_t space, Shape& first, Shape& count) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > Shape::max_rank) return false;
  std::vector<hsize_t> low(static_cast<std::size_t>(rank)), high(static_cast<std::size_t>(rank));
  if (H5Sget_select_bounds(space, low.data(), high.data()) < 0) return false;
  for (std::size_t i = 0; i < low.size(); ++i) high[i] -= low[i] - 1;
  first = hdf5::to_shape(low);
  count = hdf5::to_shape(high);
  return true;
}

[[noreturn]] void reading_failed(const Hdf5DatasetInfo& info, const std::string& what) {
  Error error = hdf5::error(ErrorKind::bad_file, what + ": the elements cannot be read");
  for (const Hdf5Filter& filter : info.filters)
    if (H5Zfilter_avail(filter.id) <= 0)
      throw Error(ErrorKind::not_supported, fmt::format("{}: the elements are packed by filter {} ({}), which this "
                                                        "machine's HDF5 library does not have",
                                                        what, filter.id, filter.name))
          .hint("install the filter as an HDF5 plugin, or convert the file with the program that wrote it");
  throw error;
}

}  // namespace

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const Session session;
  const std::string what = fmt::format("{}, {}", path_, path);
  Hdf5Dataset dataset;
  dataset.handle_ = own(H5Dopen2(handle_.id(), path.c_str(), H5P_DEFAULT), what + ": no such data set");
  dataset.path_ = path;
  dataset.info_ = describe(dataset.handle_.id(), what);
  dataset.file_path_ = file_of(dataset.handle_.id());
  return dataset;
}

Array Hdf5Dataset::read() const {
  Shape first;
  for (int i = 0; i < info_.shape.rank(); ++i) first.append(0);
  return read(first, info_.shape);
}

Array Hdf5Dataset::read(const Shape& first, const Shape& count) const {
  if (!info_.dtype)
    throw Error(ErrorKind::not_supported, fmt::format("{}, {}: elements of type {} cannot be read as numbers",
                                                      file_path_, path_, info_.type_text));
  Array array(Device::cpu(), count, *info_.dtype);
  read_into(
      first, count,
      {static_cast<std::byte*>(array.data()), static_cast<std::size_t>(count.count()) * size_bytes(*info_.dtype)});
  return array;
}

void Hdf5Dataset::read_into(const Shape& first, const Shape& count, std::span<std::byte> elements) const {
  const std::string what = fmt::format("{}, {}", file_path_, path_);
  if (!info_.dtype)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: elements of type {} cannot be read as numbers", what, info_.type_text));
  bool inside = first.rank() == info_.shape.rank() && count.rank() == info_.shape.rank();
  for (int i = 0; inside && i < count.rank(); ++i)
    inside = first[i] >= 0 && count[i] >= 0 && first[i] <= info_.shape[i] && count[i] <= info_.shape[i] - first[i];
  if (!inside)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} elements from {} reach beyond the shape {}", what,
                                                  count.text(), first.text(), info_.shape.text()));
  if (elements.size() != static_cast<std::size_t>(count.count()) * size_bytes(*info_.dtype))
    throw Error(ErrorKind::internal, fmt::format("{}: {} bytes of memory for {} elements of {}", what, elements.size(),
                                                 count.text(), info_.type_text));
  if (elements.empty()) return;

  const Session session;
  const Hdf5Handle stored = own(H5Dget_type(handle_.id()), what);
  const Hdf5Handle type = own(H5Tget_native_type(stored.id(), H5T_DIR_ASCEND), what);
  const Hdf5Handle file_space = own(H5Dget_space(handle_.id()), what);
  const std::vector<hsize_t> from = hdf5::sizes(first), extent = hdf5::sizes(count);
  if (!from.empty())
    check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr), what);
  const Hdf5Handle memory_space = own(
      from.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
      what);
  if (H5Dread(handle_.id(), type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, elements.data()) < 0)
    reading_failed(info_, what);
}

Hdf5Value Hdf5Dataset::value() const {
  constexpr Index most = 65536;
  const Session session;
  auto value = hdf5::read_value(handle_.id(), false, most);
  if (!value)
    throw Error(ErrorKind::bad_input, fmt::format("{}, {}: {} of {} is not a small value", file_path_, path_,
                                                  info_.shape.text(), info_.type_text));
  return std::move(*value);
}

std::vector<std::byte> Hdf5Dataset::raw_elements() const {
  const std::string what = fmt::format("{}, {}", file_path_, path_);
  const Session session;
  const Hdf5Handle type = own(H5Dget_type(handle_.id()), what);
  if (H5Tdetect_class(type.id(), H5T_VLEN) > 0 || H5Tis_variable_str(type.id()) > 0)
    throw Error(ErrorKind::not_supported, what + ": elements of variable length have no raw bytes");
  std::vector<std::byte> bytes(static_cast<std::size_t>(info_.shape.count()) * info_.element_bytes);
  if (!bytes.empty() && H5Dread(handle_.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
    reading_failed(info_, what);
  return bytes;
}

std::uint64_t Hdf5Dataset::chunk_bytes(const Shape& offset) const {
  const Session session;
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(handle_.id(), hdf5::sizes(offset).data(), &bytes) >= 0) return bytes;
  // The library has no other word for a chunk that was never written.
  if (hdf5::innermost_message() == "chunk storage is not allocated") return 0;
  throw hdf5::error(ErrorKind::bad_file, fmt::format("{}, {}: the size of the chunk at {} cannot be read", file_path_,
                                                     path_, offset.text()));
}

std::uint32_t Hdf5Dataset::read_chunk(const Shape& offset, std::span<std::byte> bytes) const {
  const Session session;
  const std::uint64_t stored = chunk_bytes(offset);
  if (stored != bytes.size())
    throw Error(ErrorKind::internal, fmt::format("{}, {}: the chunk at {} takes {} bytes, memory for {} was given",
                                                 file_path_, path_, offset.text(), stored, bytes.size()));
  std::uint32_t filter_mask = 0;
  if (H5Dread_chunk(handle_.id(), H5P_DEFAULT, hdf5::sizes(offset).data(), &filter_mask, bytes.data()) < 0)
    throw hdf5::error(ErrorKind::bad_file,
                      fmt::format("{}, {}: the chunk at {} cannot be read", file_path_, path_, offset.text()));
  return filter_mask;
}

std::optional<Hdf5Value> Hdf5Dataset::attribute(const std::string& name) const {
  const Session session;
  const Hdf5Handle attribute(H5Aopen(handle_.id(), name.c_str(), H5P_DEFAULT));
  if (!attribute.valid()) return std::nullopt;
  return hdf5::read_value(attribute.id(), true, 65536);
}

std::vector<Hdf5VirtualPart> Hdf5Dataset::virtual_parts() const {
  const Session session;
  const std::string what = fmt::format("{}, {}: the virtual data set", file_path_, path_);
  std::vector<Hdf5VirtualPart> parts;
  if (info_.layout != Hdf5DatasetInfo::Layout::virtual_parts) return parts;
  const Hdf5Handle properties = own(H5Dget_create_plist(handle_.id()), what);
  std::size_t count = 0;
  check(H5Pget_virtual_count(properties.id(), &count), what);
  for (std::size_t i = 0; i < count; ++i) {
    Hdf5VirtualPart part;
    const auto text = [&](auto get) {
      const ssize_t length = check(get(properties.id(), i, nullptr, std::size_t{0}), what);
      std::string name(static_cast<std::size_t>(length) + 1, '\0');
      check(get(properties.id(), i, name.data(), name.size()), what);
      name.pop_back();
      return name;
    };
    part.file = text(H5Pget_virtual_filename);
    part.object = text(H5Pget_virtual_dsetname);
    const Hdf5Handle here = own(H5Pget_virtual_vspace(properties.id(), i), what);
    const Hdf5Handle there = own(H5Pget_virtual_srcspace(properties.id(), i), what);
    if (!selection_box(here.id(), part.first, part.count))
      throw Error(ErrorKind::not_supported, what + " has a part without limits")
          .hint("name the data files themselves, or copy the data set into one file with h5repack");
    if (!selection_box(there.id(), part.source_first, part.source_count)) {
      part.source_count = part.count;  // "all of it", whose extent the file does not repeat
      for (int k = 0; k < part.count.rank(); ++k) part.source_first.append(0);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace sonde
