// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_library.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "sonde/engine/base/module.h"

namespace sonde {

void Hdf5Handle::close() noexcept {
  if (id_ < 0) return;
  const hdf5::Session session;
  H5Idec_ref(id_);  // closes whatever kind of object this is
  id_ = -1;
}

namespace hdf5 {

const Functions& library() {
  static const Functions& opened =
      functions_of<Functions>({.name = "hdf5", .library = "HDF5", .package = "libhdf5-103-1"});
  return opened;
}

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t keep_message(unsigned depth, const H5E_error2_t* entry, void* target) {
  if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(target) = entry->desc;
  return 0;
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

std::vector<hsize_t> sizes(const Shape& shape) {
  std::vector<hsize_t> result;
  result.reserve(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) result.push_back(static_cast<hsize_t>(shape[i]));
  return result;
}

}  // namespace hdf5
}  // namespace sonde
