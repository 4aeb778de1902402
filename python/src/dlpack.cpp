// SPDX-License-Identifier: Apache-2.0
#include "dlpack.h"

#include <cstdint>
#include <memory>

#include "sonde/engine/base/error.h"

namespace sonde::python {
namespace {

// The structures of DLPack's binary interface, versions 0.x and 1.0.
struct DlDevice {
  std::int32_t type;
  std::int32_t number;
};
struct DlType {
  std::uint8_t code;  // 0 signed, 1 unsigned, 2 floating point, 5 complex
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t rank;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};
struct DlManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(DlManagedVersioned*);
  std::uint64_t flags;
  DlTensor tensor;
};
constexpr std::uint64_t flag_read_only = 1;

/// What a consumer's deleter sets free.
template <class Managed>
struct Lent {
  Managed managed{};
  std::vector<std::int64_t> shape, strides;
  PyObject* owner = nullptr;  // the consumer may let go in any thread

  static void give_back(Managed* managed) {
    auto* lent = static_cast<Lent*>(managed->context);
    {
      const py::gil_scoped_acquire locked;
      Py_DECREF(lent->owner);
    }
    delete lent;
  }
};

DlDevice device_of(Device device) { return {device.kind() == DeviceKind::cuda ? 2 : 1, device.info().ordinal}; }

DlType type_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_bytes(dtype));
  if (is_unsigned(dtype)) return {1, bits, 1};
  if (is_float(dtype)) return {2, bits, 1};
  if (dtype == DType::c64 || dtype == DType::c128) return {5, bits, 1};
  return {0, bits, 1};
}

template <class Managed>
py::capsule lend(const Array& array, const std::vector<Index>& shape, const std::vector<Index>& strides,
                 const py::object& owner, const char* name) {
  auto lent = std::make_unique<Lent<Managed>>();
  lent->shape.assign(shape.begin(), shape.end());
  lent->strides.assign(strides.begin(), strides.end());
  lent->owner = py::object(owner).release().ptr();
  DlTensor& tensor = lent->managed.tensor;
  tensor.data = const_cast<void*>(array.data());
  tensor.device = device_of(array.device());
  tensor.rank = static_cast<std::int32_t>(shape.size());
  tensor.type = type_of(array.dtype());
  tensor.shape = lent->shape.data();
  tensor.strides = lent->strides.data();
  lent->managed.context = lent.get();
  lent->managed.deleter = Lent<Managed>::give_back;
  Managed* managed = &lent.release()->managed;
  // A consumer renames the capsule and calls the deleter itself; one that nobody took is given back here.
  return py::reinterpret_steal<py::capsule>(PyCapsule_New(managed, name, [](PyObject* capsule) {
    const char* now = PyCapsule_GetName(capsule);
    if (now == nullptr || std::string_view(now).starts_with("used_")) return;
    auto* untaken = static_cast<Managed*>(PyCapsule_GetPointer(capsule, now));
    untaken->deleter(untaken);
  }));
}

}  // namespace

py::tuple dlpack_device(Device device) {
  const DlDevice place = device_of(device);
  return py::make_tuple(place.type, place.number);
}

py::capsule to_dlpack(const Array& array, const std::vector<Index>& shape, const std::vector<Index>& strides,
                      const py::object& owner, bool versioned) {
  if (!versioned) return lend<DlManaged>(array, shape, strides, owner, "dltensor");
  py::capsule capsule = lend<DlManagedVersioned>(array, shape, strides, owner, "dltensor_versioned");
  auto* managed = static_cast<DlManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
  managed->major = 1;
  managed->minor = 0;
  managed->flags = flag_read_only;
  return capsule;
}

}  // namespace sonde::python
