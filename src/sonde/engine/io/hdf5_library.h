// SPDX-License-Identifier: Apache-2.0
// Private to the HDF5 sources: the lock, the library's error message, and type conversions.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::hdf5 {

/// Held during every use of the library: one thread at a time, and no printing of errors meanwhile (in a process that
/// shares the library with h5py the setting before is put back).
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// The innermost message of the library's error stack: what really happened.
[[nodiscard]] std::string innermost_message();

/// Error(kind, "<what> (HDF5: <innermost message>)").
[[nodiscard]] Error error(ErrorKind kind, const std::string& what);

/// Throws error(bad_file, what) when the library answered with a negative number.
template <class Answer>
Answer check(Answer answer, const std::string& what, ErrorKind kind = ErrorKind::bad_file) {
  if (answer < 0) throw error(kind, what);
  return answer;
}

/// Takes ownership of a new identifier; throws like check.
[[nodiscard]] inline Hdf5Handle own(hid_t id, const std::string& what, ErrorKind kind = ErrorKind::bad_file) {
  return Hdf5Handle(check(id, what, kind));
}

/// The array type of a stored type, when there is one: integers, enumerations, floats, and records of two equal floats.
[[nodiscard]] std::optional<DType> dtype_of_stored(hid_t type);
[[nodiscard]] bool stored_big_endian(hid_t type);
[[nodiscard]] std::string text_of_stored(hid_t type);
/// The library's type of native elements.
[[nodiscard]] Hdf5Handle native_type(DType dtype);

/// Throws Error(not_supported) above Shape::max_rank dimensions.
[[nodiscard]] Shape shape_of(hid_t space, const std::string& what);
[[nodiscard]] std::vector<hsize_t> sizes(const Shape& shape);
[[nodiscard]] Shape to_shape(const std::vector<hsize_t>& sizes);

/// The value of an attribute or a data set; nothing when its type has no value (records, references) or it has more
/// than `most` elements.
[[nodiscard]] std::optional<Hdf5Value> read_value(hid_t object, bool is_attribute, Index most);

}  // namespace sonde::hdf5
