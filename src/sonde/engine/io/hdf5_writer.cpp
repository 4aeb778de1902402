// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "sonde/engine/io/hdf5_library.h"

namespace sonde {
namespace {

using hdf5::Session;

template <class Answer>
Answer check(Answer answer, const std::string& file, const char* what) {
  if (answer < 0) throw hdf5::error(ErrorKind::io, fmt::format("{}: {} cannot be written", file, what));
  return answer;
}

Hdf5Handle own(hid_t id, const std::string& file, const char* what) { return Hdf5Handle(check(id, file, what)); }

/// Makes groups on the way to a new object.
Hdf5Handle with_parents() {
  Hdf5Handle properties(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(properties.id(), 1);
  return properties;
}

/// Plain values in memory with the library's type for them.
struct Scalar {
  explicit Scalar(const Hdf5Value::Scalar& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      type = Hdf5Handle(H5Tcopy(H5T_NATIVE_INT64));
      data = integer;
    } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
      type = Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT64));
      data = natural;
    } else if (const auto* number = std::get_if<double>(&value)) {
      type = Hdf5Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
      data = number;
    } else {
      const std::string& text = std::get<std::string>(value);
      type = Hdf5Handle(H5Tcopy(H5T_C_S1));
      H5Tset_size(type.id(), text.size() + 1);
      H5Tset_cset(type.id(), H5T_CSET_UTF8);
      data = text.c_str();
    }
  }
  Hdf5Handle type;
  const void* data = nullptr;
};

/// Records of fields of f64.
Hdf5Handle record_of(const std::vector<std::string>& fields) {
  const Session session;
  Hdf5Handle record(H5Tcreate(H5T_COMPOUND, fields.size() * sizeof(double)));
  for (std::size_t i = 0; i < fields.size(); ++i)
    H5Tinsert(record.id(), fields[i].c_str(), i * sizeof(double), H5T_NATIVE_DOUBLE);
  return record;
}

Hdf5Handle text_of_any_length() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Hdf5Handle space_of(const Shape& shape) {
  if (shape.rank() == 0) return Hdf5Handle(H5Screate(H5S_SCALAR));
  return Hdf5Handle(H5Screate_simple(shape.rank(), hdf5::sizes(shape).data(), nullptr));
}

void require_plain(const std::string& file, const Array& array) {
  if (!array.contiguous() || array.device() != Device::cpu())
    throw Error(ErrorKind::internal, file + ": only contiguous host arrays are written");
}

/// No filter plugin is searched for while this lives: a plugin's own settings would replace the client data.
class WithoutPlugins {
 public:
  WithoutPlugins() {
    H5PLget_loading_state(&state_);
    H5PLset_loading_state(0);
  }
  WithoutPlugins(const WithoutPlugins&) = delete;
  WithoutPlugins& operator=(const WithoutPlugins&) = delete;
  ~WithoutPlugins() { H5PLset_loading_state(state_); }

 private:
  unsigned state_ = 0;
};

/// A data set without the time of its writing: equal contents give equal files.
Hdf5Handle timeless() {
  Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(properties.id(), false);
  return properties;
}

Hdf5Handle creation_properties(const std::string& file, const Hdf5Declaration& declaration) {
  Hdf5Handle properties = timeless();
  const Hdf5Handle type = hdf5::native_type(declaration.dtype);
  if (!declaration.fill.empty()) {
    if (declaration.fill.size() != size_bytes(declaration.dtype))
      throw Error(ErrorKind::internal, file + ": the fill value is not one element");
    check(H5Pset_fill_value(properties.id(), type.id(), declaration.fill.data()), file, "a fill value");
  }
  if (declaration.chunk.rank() == 0) return properties;
  check(H5Pset_chunk(properties.id(), declaration.chunk.rank(), hdf5::sizes(declaration.chunk).data()), file,
        "a chunk shape");
  for (const Hdf5Filter& filter : declaration.filters) {
    // A filter that the process has loaded would change the client data; it comes back when it is next needed.
    if (H5Zfilter_avail(filter.id) > 0 && filter.id >= H5Z_FILTER_RESERVED && H5Zunregister(filter.id) < 0)
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: filter {} is in use by another data set of this process", file, filter.id))
          .hint("close the other data set first");
    check(H5Pset_filter(properties.id(), filter.id, filter.optional ? H5Z_FLAG_OPTIONAL : H5Z_FLAG_MANDATORY,
                        filter.client_data.size(), filter.client_data.data()),
          file, "a filter");
  }
  return properties;
}

}  // namespace

Hdf5Writer::Hdf5Writer(std::string path, const OutputRole& role) : file_(std::move(path), role) {
  const Session session;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access.id(), false, true);
  handle_ = own(H5Fcreate(file_.partial_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), file_.path(), "it");
}

Hdf5Writer::~Hdf5Writer() {
  if (!handle_.valid()) return;
  const Session session;
  // Given up: the library still writes its caches when it closes, and on a full disk that would fail again and keep the
  // file open. An empty file has room.
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(handle_.id(), H5P_DEFAULT, &descriptor) >= 0 && descriptor != nullptr)
    static_cast<void>(::ftruncate(*static_cast<const int*>(descriptor), 0) == 0);
  declared_.clear();
  handle_.close();
}

void Hdf5Writer::group(const std::string& path) {
  const Session session;
  if (H5Oexists_by_name(handle_.id(), path.c_str(), H5P_DEFAULT) > 0) return;
  const Hdf5Handle links = with_parents();
  const Hdf5Handle group =
      own(H5Gcreate2(handle_.id(), path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), file_.path(), "a group");
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const Hdf5Value::Scalar& value) {
  const Session session;
  const Scalar scalar(value);
  const Hdf5Handle space = space_of({});
  const Hdf5Handle attribute = own(H5Acreate_by_name(handle_.id(), object.c_str(), name.c_str(), scalar.type.id(),
                                                     space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                   file_.path(), "an attribute");
  check(H5Awrite(attribute.id(), scalar.type.id(), scalar.data), file_.path(), "an attribute");
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const Array& values) {
  require_plain(file_.path(), values);
  const Session session;
  const Hdf5Handle type = hdf5::native_type(values.dtype());
  const Hdf5Handle space = space_of(values.shape());
  const Hdf5Handle attribute = own(H5Acreate_by_name(handle_.id(), object.c_str(), name.c_str(), type.id(), space.id(),
                                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                   file_.path(), "an attribute");
  check(H5Awrite(attribute.id(), type.id(), values.data()), file_.path(), "an attribute");
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, const std::vector<double>& values) {
  attribute(object, name, Array::from(values, Shape{static_cast<Index>(values.size())}));
}

void Hdf5Writer::text_attribute(const std::string& object, const std::string& name, const std::string& text) {
  const Session session;
  const Hdf5Handle type = text_of_any_length();
  const Hdf5Handle space = space_of({});
  const Hdf5Handle attribute = own(H5Acreate_by_name(handle_.id(), object.c_str(), name.c_str(), type.id(), space.id(),
                                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                   file_.path(), "an attribute");
  const char* first = text.c_str();
  check(H5Awrite(attribute.id(), type.id(), &first), file_.path(), "an attribute");
}

void Hdf5Writer::value(const std::string& path, const Hdf5Value::Scalar& value) {
  const Session session;
  const Scalar scalar(value);
  const Hdf5Handle space = space_of({});
  const Hdf5Handle links = with_parents();
  const Hdf5Handle dataset = own(
      H5Dcreate2(handle_.id(), path.c_str(), scalar.type.id(), space.id(), links.id(), timeless().id(), H5P_DEFAULT),
      file_.path(), "a value");
  check(H5Dwrite(dataset.id(), scalar.type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, scalar.data), file_.path(), "a value");
}

void Hdf5Writer::texts(const std::string& path, const std::vector<std::string>& lines) {
  std::vector<const char*> pointers;
  pointers.reserve(lines.size());
  for (const std::string& line : lines) pointers.push_back(line.c_str());
  write_texts(path, {static_cast<Index>(lines.size())}, pointers.data());
}

void Hdf5Writer::text(const std::string& path, const std::string& text) {
  const char* pointer = text.c_str();
  write_texts(path, {}, &pointer);
}

void Hdf5Writer::record_lists(const std::string& path, const Hdf5RecordLists& lists) {
  const std::size_t fields = lists.fields.size();
  std::vector<hvl_t> elements;
  elements.reserve(lists.first.size());
  for (std::size_t i = 0; i + 1 < lists.first.size(); ++i)
    // The library does not change what it writes.
    elements.push_back({static_cast<std::size_t>(lists.first[i + 1] - lists.first[i]),
                        const_cast<double*>(lists.values.data() + fields * lists.first[i])});
  const Hdf5Handle record = record_of(lists.fields);
  write_lists(path, record, lists.shape, elements.data());
}

void Hdf5Writer::integer_lists(const std::string& path, std::span<const std::uint64_t> first,
                               std::span<const std::uint32_t> values) {
  std::vector<hvl_t> elements;
  elements.reserve(first.size());
  for (std::size_t i = 0; i + 1 < first.size(); ++i)
    // The library does not change what it writes.
    elements.push_back(
        {static_cast<std::size_t>(first[i + 1] - first[i]), const_cast<std::uint32_t*>(values.data() + first[i])});
  write_lists(path, hdf5::native_type(DType::u32), {static_cast<Index>(elements.size())}, elements.data());
}

void Hdf5Writer::write_lists(const std::string& path, const Hdf5Handle& base, const Shape& shape,
                             const void* elements) {
  const Session session;
  const Hdf5Handle type(H5Tvlen_create(base.id()));
  const Hdf5Handle space = space_of(shape);
  const Hdf5Handle links = with_parents();
  const Hdf5Handle dataset =
      own(H5Dcreate2(handle_.id(), path.c_str(), type.id(), space.id(), links.id(), timeless().id(), H5P_DEFAULT),
          file_.path(), "lists");
  check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, elements), file_.path(), "lists");
}

void Hdf5Writer::write_texts(const std::string& path, const Shape& shape, const char* const* texts) {
  const Session session;
  const Hdf5Handle type = text_of_any_length();
  const Hdf5Handle space = space_of(shape);
  const Hdf5Handle links = with_parents();
  const Hdf5Handle dataset =
      own(H5Dcreate2(handle_.id(), path.c_str(), type.id(), space.id(), links.id(), timeless().id(), H5P_DEFAULT),
          file_.path(), "texts");
  if (shape.count() > 0)
    check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts), file_.path(), "texts");
}

void Hdf5Writer::array(const std::string& path, const Array& elements) {
  require_plain(file_.path(), elements);
  const Session session;
  const Hdf5Handle type = hdf5::native_type(elements.dtype());
  const Hdf5Handle space = space_of(elements.shape());
  const Hdf5Handle links = with_parents();
  const Hdf5Handle dataset =
      own(H5Dcreate2(handle_.id(), path.c_str(), type.id(), space.id(), links.id(), timeless().id(), H5P_DEFAULT),
          file_.path(), "an array");
  if (elements.count() > 0)
    check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()), file_.path(), "an array");
}

void Hdf5Writer::describe(const std::string& path, const std::vector<std::string>& axes, const std::string& unit) {
  if (!unit.empty()) text_attribute(path, "units", unit);
  const Session session;
  std::vector<const char*> labels;
  labels.reserve(axes.size());
  for (const std::string& axis : axes) labels.push_back(axis.c_str());
  const Hdf5Handle type = text_of_any_length();
  const Hdf5Handle space = space_of({static_cast<Index>(labels.size())});
  const Hdf5Handle attribute = own(H5Acreate_by_name(handle_.id(), path.c_str(), "DIMENSION_LABELS", type.id(),
                                                     space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                   file_.path(), "an attribute");
  check(H5Awrite(attribute.id(), type.id(), labels.data()), file_.path(), "an attribute");
}

void Hdf5Writer::soft_link(const std::string& path, const std::string& target) {
  const Session session;
  const Hdf5Handle links = with_parents();
  check(H5Lcreate_soft(target.c_str(), handle_.id(), path.c_str(), links.id(), H5P_DEFAULT), file_.path(), "a link");
}

void Hdf5Writer::external_link(const std::string& path, const std::string& file, const std::string& object) {
  const Session session;
  const Hdf5Handle links = with_parents();
  check(H5Lcreate_external(file.c_str(), object.c_str(), handle_.id(), path.c_str(), links.id(), H5P_DEFAULT),
        file_.path(), "a link");
}

void Hdf5Writer::dimension_scales(const std::map<std::string, std::vector<std::string>>& scales_of) {
  // The layout of the "HDF5 Dimension Scale Specification": DIMENSION_LIST at the data set names its scales,
  // REFERENCE_LIST at the scale its data sets.
  struct Use {
    hobj_ref_t dataset;
    int dimension;
  };
  const Session session;
  const auto refer = [&](const std::string& path) {
    hobj_ref_t reference = 0;
    check(H5Rcreate(&reference, handle_.id(), path.c_str(), H5R_OBJECT, -1), file_.path(), "a reference");
    return reference;
  };
  const auto write = [&](const std::string& object, const char* name, const Hdf5Handle& type, std::size_t count,
                         const void* values) {
    const Hdf5Handle space = space_of({static_cast<Index>(count)});
    const Hdf5Handle attribute = own(H5Acreate_by_name(handle_.id(), object.c_str(), name, type.id(), space.id(),
                                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                     file_.path(), name);
    check(H5Awrite(attribute.id(), type.id(), values), file_.path(), name);
  };

  const Hdf5Handle list_type(H5Tvlen_create(H5T_STD_REF_OBJ));
  std::map<std::string, std::vector<std::pair<std::string, int>>> uses;
  for (const auto& [dataset, scales] : scales_of) {
    std::vector<hobj_ref_t> references;
    references.reserve(scales.size());
    std::vector<hvl_t> lists;
    for (const std::string& scale : scales) {
      uses[scale].emplace_back(dataset, static_cast<int>(lists.size()));
      references.push_back(refer(scale));
      lists.push_back({1, &references.back()});
    }
    write(dataset, "DIMENSION_LIST", list_type, lists.size(), lists.data());
  }
  const Hdf5Handle use_type(H5Tcreate(H5T_COMPOUND, sizeof(Use)));
  H5Tinsert(use_type.id(), "dataset", HOFFSET(Use, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(use_type.id(), "dimension", HOFFSET(Use, dimension), H5T_NATIVE_INT);
  for (const auto& [scale, users] : uses) {
    std::vector<Use> list(users.size());
    std::memset(list.data(), 0, list.size() * sizeof(Use));  // the gap behind `dimension` goes into the file
    for (std::size_t i = 0; i < users.size(); ++i) {
      list[i].dataset = refer(users[i].first);
      list[i].dimension = users[i].second;
    }
    write(scale, "REFERENCE_LIST", use_type, list.size(), list.data());
  }
}

void Hdf5Writer::declare(const std::string& path, const Hdf5Declaration& declaration) {
  const Session session;
  const WithoutPlugins guard;
  const Hdf5Handle type = hdf5::native_type(declaration.dtype);
  const Hdf5Handle space = space_of(declaration.shape);
  const Hdf5Handle links = with_parents();
  const Hdf5Handle properties = creation_properties(file_.path(), declaration);
  declared_[path] =
      own(H5Dcreate2(handle_.id(), path.c_str(), type.id(), space.id(), links.id(), properties.id(), H5P_DEFAULT),
          file_.path(), "a data set");
}

std::int64_t Hdf5Writer::declared(const std::string& path) const {
  const auto found = declared_.find(path);
  if (found == declared_.end())
    throw Error(ErrorKind::internal, fmt::format("{}: {} was not declared", file_.path(), path));
  return found->second.id();
}

void Hdf5Writer::write_box(const std::string& path, const Shape& first, const Array& values) {
  require_plain(file_.path(), values);
  write_box(path, first, values.shape(), values.dtype(), values.data());
}

void Hdf5Writer::write_box(const std::string& path, const Shape& first, const Shape& count, DType dtype,
                           const void* elements) {
  if (count.count() == 0) return;
  const Session session;
  const hid_t dataset = declared(path);
  const Hdf5Handle type = hdf5::native_type(dtype);
  const Hdf5Handle memory = space_of(count);
  const Hdf5Handle box = own(H5Dget_space(dataset), file_.path(), "a box");
  check(H5Sselect_hyperslab(box.id(), H5S_SELECT_SET, hdf5::sizes(first).data(), nullptr, hdf5::sizes(count).data(),
                            nullptr),
        file_.path(), "a box");
  check(H5Dwrite(dataset, type.id(), memory.id(), box.id(), H5P_DEFAULT, elements), file_.path(), "a box");
}

void Hdf5Writer::write_chunk(const std::string& path, const Shape& first, std::span<const std::byte> bytes,
                             std::uint32_t filter_mask) {
  const Session session;
  check(H5Dwrite_chunk(declared(path), H5P_DEFAULT, filter_mask, hdf5::sizes(first).data(), bytes.size(), bytes.data()),
        file_.path(), "a chunk");
}

void Hdf5Writer::close_library() {
  const Session session;
  declared_.clear();
  check(H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL), file_.path(), "the end of the file");
  const hid_t id = handle_.id();
  H5Iinc_ref(id);  // so that the answer of closing can be looked at
  handle_.close();
  check(H5Fclose(id), file_.path(), "the end of the file");
}

void Hdf5Writer::close(Durability durability) {
  if (!handle_.valid()) return;
  close_library();
  file_.close(durability);
}

void Hdf5Writer::finish_with(const std::function<std::string(const std::string&)>& tail, Durability durability) {
  close_library();
  const std::string text = tail(file_.partial_path());
  std::ofstream end(file_.partial_path(), std::ios::binary | std::ios::app);
  end << text;
  end.close();
  if (!end) throw Error(ErrorKind::io, fmt::format("{}: writing the last {} bytes failed", file_.path(), text.size()));
  file_.close(durability);
  file_.commit();
}

void Hdf5Writer::finish(Durability durability) {
  close(durability);
  file_.commit();
}

}  // namespace sonde
