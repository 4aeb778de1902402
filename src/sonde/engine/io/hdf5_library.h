// SPDX-License-Identifier: Apache-2.0
// Private to the HDF5 sources: the lock, the library's error message, and type conversions.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5_calls.h"
#include "sonde/engine/io/hdf5_handle.h"

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

/// The library's type of native elements.
[[nodiscard]] Hdf5Handle native_type(DType dtype);

[[nodiscard]] std::vector<hsize_t> sizes(const Shape& shape);

}  // namespace sonde::hdf5
