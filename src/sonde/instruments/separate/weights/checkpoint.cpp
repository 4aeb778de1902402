// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/weights/formats.h"

namespace sonde::separate {
namespace {

/// A file of ONNX is a protocol buffer: the version of its format as field 1, then the name of who made it as field 2.
bool is_onnx(const std::string& path, std::span<const std::byte> bytes) {
  return path.ends_with(".onnx") ||
         (bytes.size() > 2 && bytes[0] == std::byte{0x08} && bytes[1] < std::byte{0x20} && bytes[2] == std::byte{0x12});
}

/// Removes "module." (torch.nn.DataParallel) or "model." (training loops) where all names have it.
void strip_prefix(Checkpoint& checkpoint) {
  for (const std::string_view prefix : {"module.", "model."}) {
    const auto has = [&](const auto& each) { return each.first.starts_with(prefix); };
    if (!std::all_of(checkpoint.tensors.begin(), checkpoint.tensors.end(), has)) continue;
    const auto strip = [&](auto& map) {
      std::remove_reference_t<decltype(map)> stripped;
      for (auto& each : map) {
        stripped.emplace(has(each) ? each.first.substr(prefix.size()) : each.first, std::move(each.second));
      }
      map = std::move(stripped);
    };
    strip(checkpoint.tensors);
    strip(checkpoint.others);
  }
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class To>
To element(const std::byte* from, Stored type) {
  switch (type) {
    case Stored::f32:
      return static_cast<To>(load<float>(from));
    case Stored::f16:
      return static_cast<To>(from_fp16(load<std::uint16_t>(from)));
    case Stored::bf16:
      return static_cast<To>(from_bf16(load<std::uint16_t>(from)));
    case Stored::f64:
      return static_cast<To>(load<double>(from));
    case Stored::i64:
      return static_cast<To>(load<std::int64_t>(from));
    case Stored::i32:
      return static_cast<To>(load<std::int32_t>(from));
    case Stored::i16:
      return static_cast<To>(load<std::int16_t>(from));
    case Stored::i8:
      return static_cast<To>(load<std::int8_t>(from));
    case Stored::u8:
      return static_cast<To>(load<std::uint8_t>(from));
    case Stored::boolean:
      return static_cast<To>(load<std::uint8_t>(from) != 0);
  }
  return To();
}

/// Elements of a strided array in C order.
template <class To>
void gather(const StoredTensor& tensor, int dimension, const std::byte* from, To*& to) {
  if (dimension == tensor.shape.rank()) {
    *to++ = element<To>(from, tensor.type);
    return;
  }
  const Index stride =
      tensor.strides[static_cast<std::size_t>(dimension)] * static_cast<Index>(size_bytes(tensor.type));
  const bool last = dimension + 1 == tensor.shape.rank();
  for (Index i = 0; i < tensor.shape[dimension]; ++i) {
    const std::byte* const at = from + i * stride;
    if (last)
      *to++ = element<To>(at, tensor.type);
    else
      gather(tensor, dimension + 1, at, to);
  }
}

/// Strides of axes of one element mean nothing.
bool is_contiguous(const StoredTensor& tensor) {
  const auto wanted = contiguous_strides(tensor.shape);
  for (int i = 0; i < tensor.shape.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (tensor.shape[i] > 1 && tensor.strides[at] != wanted[at]) return false;
  }
  return true;
}

/// What is wrong with the tensors, of which the first ten are shown.
class Misfits {
 public:
  void add(std::string text) {
    if (++count_ <= 10) problems_.emplace_back(ErrorKind::bad_file, std::move(text));
  }
  void report(const std::string& path) {
    if (problems_.empty()) return;
    if (count_ > 10) problems_.emplace_back(ErrorKind::bad_file, fmt::format("and {} more", count_ - 10));
    if (problems_.size() == 1) throw Error(ErrorKind::bad_file, path + ": " + problems_.front().message());
    throw Error::several(path + ": the tensors are not those of the configuration", std::move(problems_));
  }

 private:
  std::size_t count_ = 0;
  std::vector<Error> problems_;
};

void compare(const Checkpoint& checkpoint, const std::vector<Parameter>& parameters) {
  Misfits misfits;
  std::set<std::string_view> expected;
  for (const Parameter& each : parameters) {
    expected.insert(each.name);
    const auto at = checkpoint.tensors.find(each.name);
    if (at == checkpoint.tensors.end()) {
      const auto other = checkpoint.others.find(each.name);
      misfits.add(other != checkpoint.others.end() ? fmt::format("{}: unsupported object {}", each.name, other->second)
                                                   : fmt::format("{} is missing; expected shape {}, by {}", each.name,
                                                                 each.shape.text(), each.field));
    } else if (at->second.shape != each.shape) {
      misfits.add(fmt::format("{} has shape {}; expected {}, by {}", each.name, at->second.shape.text(),
                              each.shape.text(), each.field));
    }
  }
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!expected.contains(name) && !name.ends_with(".num_batches_tracked"))
      misfits.add(fmt::format("{} {} is not a parameter of this network", name, tensor.shape.text()));
  }
  misfits.report(checkpoint.path);
}

/// Whether no exponent is that of infinities and of what is not a number.
SONDE_MULTIVERSION bool is_finite(const float* x, Index count) {
  std::uint32_t found = 0;
  for (Index i = 0; i < count; ++i) {
    constexpr std::uint32_t exponent = 0x7f800000;
    found |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(x[i]) & exponent) == exponent);
  }
  return found == 0;
}

void require_finite(const Checkpoint& checkpoint, const std::string& name, const Array& values) {
  const auto* x = static_cast<const float*>(values.data());
  if (is_finite(x, values.count())) return;
  for (Index i = 0; i < values.count(); ++i) {
    if (!std::isfinite(x[i]))
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: {} has the value {} at element {}", checkpoint.path, name, x[i], i))
          .hint("the training of this checkpoint diverged: use an earlier one");
  }
}

}  // namespace

std::size_t size_bytes(Stored type) {
  switch (type) {
    case Stored::f64:
    case Stored::i64:
      return 8;
    case Stored::f32:
    case Stored::i32:
      return 4;
    case Stored::f16:
    case Stored::bf16:
    case Stored::i16:
      return 2;
    case Stored::i8:
    case Stored::u8:
    case Stored::boolean:
      return 1;
  }
  return 1;
}

std::string_view name(Stored type) {
  constexpr std::string_view names[] = {"F32", "F16", "BF16", "F64", "I64", "I32", "I16", "I8", "U8", "BOOL"};
  return names[static_cast<std::size_t>(type)];
}

std::optional<Index> count_within(const Shape& shape, Index most) {
  Index count = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 0) return 0;
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] > most / count) return std::nullopt;
    count *= shape[i];
  }
  return count <= most ? std::optional(count) : std::nullopt;
}

std::array<Index, Shape::max_rank> contiguous_strides(const Shape& shape) {
  std::array<Index, Shape::max_rank> strides{};
  if (count_within(shape, std::numeric_limits<Index>::max()).value_or(0) == 0) return strides;
  Index stride = 1;
  for (int i = shape.rank(); i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

Checkpoint read_checkpoint(const std::string& path, const std::string& state_key) {
  Checkpoint checkpoint{.path = path, .file = std::make_shared<const MappedFile>(path)};
  const auto bytes = checkpoint.file->bytes();
  constexpr std::string_view zip = "PK\x03\x04", empty_zip = "PK\x05\x06";
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 4));
  if (bytes.empty()) throw Error(ErrorKind::bad_file, path + ": the file is empty");
  if (start == zip || start == empty_zip) {
    read_torch_zip(checkpoint, state_key);
  } else if (is_torch_legacy(bytes)) {
    read_torch_legacy(checkpoint, state_key);
  } else if (is_safetensors(bytes) || path.ends_with(".safetensors")) {
    read_safetensors(checkpoint, state_key);
  } else if (is_onnx(path, bytes)) {
    throw Error(ErrorKind::not_supported, path + ": is an ONNX file; expected a checkpoint of PyTorch or safetensors")
        .hint("use the checkpoint (.ckpt, .pth or .safetensors) that it was exported from");
  } else {
    throw Error(ErrorKind::bad_file, path + ": unknown file format; expected a checkpoint of PyTorch or safetensors");
  }
  strip_prefix(checkpoint);
  return checkpoint;
}

Array values_of(const Checkpoint& checkpoint, const StoredTensor& tensor) {
  const bool plain = tensor.type == Stored::f32 && is_contiguous(tensor);
  if (plain && reinterpret_cast<std::uintptr_t>(tensor.first) % alignof(float) == 0) {
    return Array::borrowed(const_cast<std::byte*>(tensor.first), tensor.shape, contiguous_strides(tensor.shape),
                           DType::f32, [file = checkpoint.file] {});
  }
  Array values(Device::cpu(), tensor.shape, DType::f32);
  auto* to = static_cast<float*>(values.data());
  if (plain)
    std::memcpy(to, tensor.first, static_cast<std::size_t>(values.count()) * sizeof(float));
  else
    gather(tensor, 0, tensor.first, to);
  return values;
}

std::vector<std::int64_t> whole_values_of(const StoredTensor& tensor) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(tensor.shape.count()));
  std::int64_t* to = values.data();
  gather(tensor, 0, tensor.first, to);
  return values;
}

ParameterValues match(const Checkpoint& checkpoint, const std::vector<Parameter>& parameters) {
  compare(checkpoint, parameters);
  std::vector<Array> values(parameters.size());
  parallel_for(static_cast<Index>(parameters.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::string& name = parameters[at].name;
      values[at] = values_of(checkpoint, checkpoint.tensors.find(name)->second);
      require_finite(checkpoint, name, values[at]);
    }
  });
  ParameterValues all;
  for (std::size_t i = 0; i < parameters.size(); ++i) all.emplace(parameters[i].name, std::move(values[i]));
  return all;
}

}  // namespace sonde::separate
