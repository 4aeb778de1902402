// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_library.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace sonde {

void Hdf5Handle::close() noexcept {
  if (id_ < 0) return;
  const hdf5::Session session;
  H5Idec_ref(id_);  // closes whatever kind of object this is
  id_ = -1;
}

namespace hdf5 {
namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t keep_message(unsigned depth, const H5E_error2_t* entry, void* target) {
  if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(target) = entry->desc;
  return 0;
}

bool is_complex(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  const Hdf5Handle real(H5Tget_member_type(type, 0)), imaginary(H5Tget_member_type(type, 1));
  return H5Tget_class(real.id()) == H5T_FLOAT && H5Tequal(real.id(), imaginary.id()) > 0 &&
         H5Tget_size(type) == 2 * H5Tget_size(real.id());
}

std::vector<Hdf5Value::Scalar> read_texts(hid_t object, bool is_attribute, hid_t stored, std::size_t count) {
  std::vector<Hdf5Value::Scalar> texts;
  const auto read = [&](hid_t type, void* target) {
    return is_attribute ? H5Aread(object, type, target) : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, target);
  };
  if (H5Tis_variable_str(stored) > 0) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), H5T_VARIABLE);
    H5Tset_cset(type.id(), H5Tget_cset(stored));
    std::vector<char*> pointers(count, nullptr);
    if (read(type.id(), pointers.data()) < 0) return {};
    for (char* pointer : pointers) {
      texts.emplace_back(std::string(pointer != nullptr ? pointer : ""));
      H5free_memory(pointer);
    }
    return texts;
  }
  const std::size_t size = H5Tget_size(stored);
  const Hdf5Handle type(H5Tcopy(stored));
  std::vector<char> characters(count * size);
  if (size == 0 || read(type.id(), characters.data()) < 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    const char* first = characters.data() + i * size;
    std::string text(first, strnlen(first, size));
    if (H5Tget_strpad(stored) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
    texts.emplace_back(std::move(text));
  }
  return texts;
}

template <class Element>
std::vector<Hdf5Value::Scalar> read_numbers(hid_t object, bool is_attribute, hid_t type, std::size_t count) {
  std::vector<Element> elements(count);
  const herr_t status = is_attribute ? H5Aread(object, type, elements.data())
                                     : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data());
  if (status < 0) return {};
  return {elements.begin(), elements.end()};
}

/// Enumerations do not convert to integers by themselves: read them as their own type, then convert in memory.
std::vector<Hdf5Value::Scalar> read_enumeration(hid_t object, bool is_attribute, hid_t stored, std::size_t count) {
  const Hdf5Handle integers(H5Tget_super(stored));
  const std::size_t bytes = std::max<std::size_t>(H5Tget_size(stored), sizeof(std::int64_t));
  std::vector<std::byte> buffer(count * bytes);
  const herr_t status = is_attribute ? H5Aread(object, stored, buffer.data())
                                     : H5Dread(object, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data());
  if (status < 0 || H5Tconvert(integers.id(), H5T_NATIVE_INT64, count, buffer.data(), nullptr, H5P_DEFAULT) < 0)
    return {};
  std::vector<Hdf5Value::Scalar> values;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = 0;
    std::memcpy(&value, buffer.data() + i * sizeof value, sizeof value);
    values.emplace_back(value);
  }
  return values;
}

}  // namespace

Session::Session() : lock_(library_mutex()) {
  // Closing everything at exit crashes the library (1.10.8) after a file that could not be closed, for instance on a
  // full disk. Nothing of ours is open by then.
  static const herr_t no_closing_at_exit = H5dont_atexit();
  static_cast<void>(no_closing_at_exit);
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

std::string innermost_message() {
  std::string message;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_message, &message);
  // "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf = ...": what counts
  constexpr std::string_view reason_mark = "error message = '";
  const std::size_t details = message.find(": time = "), reason = message.find(reason_mark);
  if (details == std::string::npos || reason == std::string::npos) return message;
  const std::size_t first = reason + reason_mark.size();
  return message.substr(0, details) + ": " + message.substr(first, message.find('\'', first) - first);
}

Error error(ErrorKind kind, const std::string& what) {
  const std::string message = innermost_message();
  return Error(kind, message.empty() ? what : fmt::format("{} (HDF5: {})", what, message));
}

std::optional<DType> dtype_of_stored(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_ENUM: {
      const Hdf5Handle integers(H5Tget_super(type));
      return dtype_of_stored(integers.id());
    }
    case H5T_INTEGER:
      if (H5Tget_precision(type) != 8 * bytes) return std::nullopt;
      for (const DType dtype :
           {DType::u8, DType::u16, DType::u32, DType::u64, DType::i8, DType::i16, DType::i32, DType::i64})
        if (size_bytes(dtype) == bytes && is_unsigned(dtype) == (H5Tget_sign(type) == H5T_SGN_NONE)) return dtype;
      return std::nullopt;
    case H5T_FLOAT:
      if (bytes == 4) return DType::f32;
      if (bytes == 8) return DType::f64;
      return std::nullopt;
    case H5T_COMPOUND:
      if (is_complex(type) && bytes == 8) return DType::c64;
      if (is_complex(type) && bytes == 16) return DType::c128;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool stored_big_endian(hid_t type) {
  if (H5Tget_class(type) == H5T_COMPOUND) {
    const Hdf5Handle member(H5Tget_member_type(type, 0));
    return H5Tget_order(member.id()) == H5T_ORDER_BE;
  }
  return H5Tget_order(type) == H5T_ORDER_BE && H5Tget_size(type) > 1;
}

std::string text_of_stored(hid_t type) {
  if (const auto dtype = dtype_of_stored(type))
    return std::string(name(*dtype)) + (stored_big_endian(type) ? " big endian" : "");
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return "text";
    case H5T_OPAQUE:
      return fmt::format("opaque, {} bytes", bytes);
    case H5T_COMPOUND:
      return fmt::format("record of {} fields", H5Tget_nmembers(type));
    case H5T_INTEGER:
      return fmt::format("integer of {} bytes", bytes);
    case H5T_FLOAT:
      return fmt::format("float of {} bytes", bytes);
    case H5T_REFERENCE:
      return "reference";
    default:
      return fmt::format("another type, {} bytes", bytes);
  }
}

Hdf5Handle native_type(DType dtype) {
  const auto complex = [](hid_t part, std::size_t bytes) {
    Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes));
    H5Tinsert(type.id(), "r", 0, part);  // the names that h5py gives
    H5Tinsert(type.id(), "i", bytes, part);
    return type;
  };
  switch (dtype) {
    case DType::u8:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT8));
    case DType::u16:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT16));
    case DType::u32:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT32));
    case DType::u64:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT64));
    case DType::i8:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_INT8));
    case DType::i16:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_INT16));
    case DType::i32:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_INT32));
    case DType::i64:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_INT64));
    case DType::f32:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_FLOAT));
    case DType::f64:
      return Hdf5Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
    case DType::c64:
      return complex(H5T_NATIVE_FLOAT, 4);
    case DType::c128:
      return complex(H5T_NATIVE_DOUBLE, 8);
  }
  throw Error(ErrorKind::internal, "an element type that HDF5 has no name for");
}

Shape to_shape(const std::vector<hsize_t>& sizes) {
  Shape shape;
  for (const hsize_t size : sizes) shape.append(static_cast<Index>(size));
  return shape;
}

Shape shape_of(hid_t space, const std::string& what) {
  const int rank = check(H5Sget_simple_extent_ndims(space), what + ": the shape cannot be read");
  if (rank > Shape::max_rank)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} dimensions, at most {} are read", what, rank, static_cast<int>(Shape::max_rank)));
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return to_shape(extents);
}

std::vector<hsize_t> sizes(const Shape& shape) {
  std::vector<hsize_t> result;
  result.reserve(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) result.push_back(static_cast<hsize_t>(shape[i]));
  return result;
}

std::optional<Hdf5Value> read_value(hid_t object, bool is_attribute, Index most) {
  const Hdf5Handle type(is_attribute ? H5Aget_type(object) : H5Dget_type(object));
  const Hdf5Handle space(is_attribute ? H5Aget_space(object) : H5Dget_space(object));
  if (!type.valid() || !space.valid() || H5Sget_simple_extent_type(space.id()) == H5S_NULL) return std::nullopt;
  const hssize_t points = H5Sget_simple_extent_npoints(space.id());
  if (points < 0 || points > most || H5Sget_simple_extent_ndims(space.id()) > Shape::max_rank) return std::nullopt;

  Hdf5Value value{shape_of(space.id(), "value"), {}};
  const auto count = static_cast<std::size_t>(points);
  switch (H5Tget_class(type.id())) {
    case H5T_STRING:
      value.elements = read_texts(object, is_attribute, type.id(), count);
      break;
    case H5T_INTEGER:
      value.elements = H5Tget_sign(type.id()) == H5T_SGN_NONE
                           ? read_numbers<std::uint64_t>(object, is_attribute, H5T_NATIVE_UINT64, count)
                           : read_numbers<std::int64_t>(object, is_attribute, H5T_NATIVE_INT64, count);
      break;
    case H5T_FLOAT:
      value.elements = read_numbers<double>(object, is_attribute, H5T_NATIVE_DOUBLE, count);
      break;
    case H5T_ENUM:
      value.elements = read_enumeration(object, is_attribute, type.id(), count);
      break;
    default:
      return std::nullopt;
  }
  if (value.elements.size() != count) return std::nullopt;
  return value;
}

}  // namespace hdf5
}  // namespace sonde
