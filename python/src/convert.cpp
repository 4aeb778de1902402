// SPDX-License-Identifier: Apache-2.0
#include "convert.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::python {
namespace {

std::string type_name(const py::handle& object) {
  return py::cast<std::string>(py::type::handle_of(object).attr("__name__"));
}

Value list_of(const py::handle& items, const std::string& what) {
  Value list = Value::list();
  for (const py::handle& item : items) list.push_back(from_python(item, what));
  return list;
}

const char* word(FieldType type) {
  switch (type) {
    case FieldType::text:
      return "text";
    case FieldType::whole:
      return "whole";
    case FieldType::real:
      return "real";
    case FieldType::toggle:
      return "toggle";
    case FieldType::bytes:
      return "bytes";
    case FieldType::choice:
      return "choice";
    case FieldType::list:
      return "list";
  }
  return "";
}

/// Text of files need not be UTF-8: bytes that are not appear as \\xNN.
py::str decoded(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace

py::object to_python(const Value& value) {
  if (value.is_bool()) return py::bool_(value.as_bool());
  if (value.is_whole()) return py::int_(value.as_whole());
  if (value.is_real()) return py::float_(value.as_real());
  if (value.is_text()) return decoded(value.as_text());
  if (value.is_list()) {
    py::list list;
    for (const Value& item : value.items()) list.append(to_python(item));
    return list;
  }
  if (value.is_object()) {
    py::dict dict;
    for (const auto& [key, member] : value.members()) dict[decoded(key)] = to_python(member);
    return dict;
  }
  return py::none();
}

Value from_python(const py::handle& object, const std::string& what) {
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return py::cast<bool>(object);
  if (py::isinstance<py::int_>(object)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow != 0) throw Error(ErrorKind::usage, fmt::format("{}: a whole number beyond 64 bits", what));
    return whole;
  }
  if (py::isinstance<py::float_>(object)) return py::cast<double>(object);
  if (py::isinstance<py::str>(object)) return py::cast<std::string>(object);
  if (py::isinstance<py::dict>(object)) {
    Value members = Value::object();
    for (const auto& [key, member] : py::reinterpret_borrow<py::dict>(object))
      members[py::cast<std::string>(py::str(key))] = from_python(member, what);
    return members;
  }
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) return list_of(object, what);
  if (py::hasattr(object, "__fspath__")) return py::cast<std::string>(object.attr("__fspath__")());
  if (py::hasattr(object, "tolist")) return from_python(object.attr("tolist")(), what);
  throw Error(ErrorKind::usage, fmt::format("{}: a value of type {} is not a setting", what, type_name(object)))
      .hint("settings are numbers, texts, True or False, and lists of them");
}

py::list describe_fields(const Fields& fields) {
  py::list all;
  for (const Field& field : fields.all()) {
    py::dict entry;
    entry["key"] = field.key;
    entry["type"] = word(field.type);
    entry["help"] = spelled(field.info.help, Spelling::python);
    entry["unit"] = field.info.unit;
    entry["min"] = field.info.min ? py::object(py::float_(*field.info.min)) : py::none();
    entry["max"] = field.info.max ? py::object(py::float_(*field.info.max)) : py::none();
    entry["metavar"] = field.info.metavar;
    entry["alias"] = field.info.alias;
    entry["choices"] = to_python(Value(field.choices));
    entry["nullable"] = field.nullable;
    entry["positional"] = field.positional;
    entry["optional"] = field.info.optional;
    entry["array"] = field.info.array;
    entry["this_run_only"] = field.info.flag_only;
    entry["default"] = to_python(field.value());
    entry["heading"] = field.heading;
    all.append(std::move(entry));
  }
  return all;
}

py::dtype numpy_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return py::dtype::of<std::uint8_t>();
    case DType::u16:
      return py::dtype::of<std::uint16_t>();
    case DType::u32:
      return py::dtype::of<std::uint32_t>();
    case DType::u64:
      return py::dtype::of<std::uint64_t>();
    case DType::i8:
      return py::dtype::of<std::int8_t>();
    case DType::i16:
      return py::dtype::of<std::int16_t>();
    case DType::i32:
      return py::dtype::of<std::int32_t>();
    case DType::i64:
      return py::dtype::of<std::int64_t>();
    case DType::f32:
      return py::dtype::of<float>();
    case DType::f64:
      return py::dtype::of<double>();
    case DType::c64:
      return py::dtype::of<std::complex<float>>();
    case DType::c128:
      return py::dtype::of<std::complex<double>>();
  }
  throw Error(ErrorKind::internal, "an element type that NumPy has no name for");
}

DType dtype_of_numpy(const py::dtype& dtype, const std::string& what) {
  for (const DType each : {DType::u8, DType::u16, DType::u32, DType::u64, DType::i8, DType::i16, DType::i32, DType::i64,
                           DType::f32, DType::f64, DType::c64, DType::c128})
    if (numpy_type(each).equal(dtype)) return each;
  throw Error(ErrorKind::bad_input, fmt::format("{}: elements of type {} in this byte order are not used", what,
                                                py::cast<std::string>(py::str(static_cast<const py::object&>(dtype)))))
      .hint("convert them with astype()");
}

py::array to_numpy(Array array) {
  auto* owned = new Array(std::move(array));
  const py::capsule owner(owned, [](void* pointer) { delete static_cast<Array*>(pointer); });
  std::vector<py::ssize_t> shape, strides;
  const auto element_bytes = static_cast<py::ssize_t>(size_bytes(owned->dtype()));
  for (int i = 0; i < owned->shape().rank(); ++i) {
    shape.push_back(owned->shape()[i]);
    strides.push_back(owned->stride(i) * element_bytes);
  }
  return py::array(numpy_type(owned->dtype()), shape, strides, owned->data(), owner);
}

Array borrow(const py::array& array, const std::string& what) {
  const DType dtype = dtype_of_numpy(array.dtype(), what);
  if ((array.flags() & py::array::c_style) == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: the array is not contiguous in C order, so using it needs a copy", what))
        .hint("give copy=True, or numpy.ascontiguousarray of it");
  Shape shape;
  std::array<Index, Shape::max_rank> strides{};
  if (array.ndim() > Shape::max_rank)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} dimensions are too many", what, array.ndim()));
  Index step = 1;
  for (auto i = array.ndim(); i-- > 0; step *= array.shape(i)) strides[static_cast<std::size_t>(i)] = step;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
  // The last user may be any thread.
  std::shared_ptr<PyObject> owner(py::object(array).release().ptr(), [](PyObject* object) {
    const py::gil_scoped_acquire locked;
    Py_DECREF(object);
  });
  return Array::borrowed(const_cast<void*>(array.data()), shape, strides, dtype, [owner] {});
}

py::array read_only(DType dtype, const std::vector<Index>& shape, const std::vector<Index>& strides,
                    const void* elements, const py::object& owner) {
  std::vector<py::ssize_t> byte_strides;
  for (const Index stride : strides) byte_strides.push_back(stride * static_cast<py::ssize_t>(size_bytes(dtype)));
  py::array array(numpy_type(dtype), std::vector<py::ssize_t>(shape.begin(), shape.end()), byte_strides, elements,
                  owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

}  // namespace sonde::python
