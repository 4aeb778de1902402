// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "convert.h"

namespace sonde::python {

/// (device type, device number) as DLPack counts them: (1, 0) is the CPU, (2, n) CUDA device n.
[[nodiscard]] py::tuple dlpack_device(Device device);

/// A capsule for __dlpack__ on elements that `owner` keeps alive; nothing is copied. With `versioned` it says that the
/// elements may only be read (DLPack 1.0); the older form cannot say so. Strides in elements.
[[nodiscard]] py::capsule to_dlpack(const Array& array, const std::vector<Index>& shape,
                                    const std::vector<Index>& strides, const py::object& owner, bool versioned);

}  // namespace sonde::python
