// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/safetensors_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/small_float.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/weights/formats.h"

namespace sonde::separate {
namespace {

bool is_whole(Stored type) {
  return type != Stored::f32 && type != Stored::f16 && type != Stored::bf16 && type != Stored::f64;
}

template <class T, class Convert>
void write_as(AtomicFile& file, std::span<const float> values, Convert convert) {
  std::vector<T> converted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) converted[i] = convert(values[i]);
  file.write(std::as_bytes(std::span(converted)));
}

void write_values(AtomicFile& file, const std::string& name, std::span<const float> values, Stored type) {
  if (type == Stored::f32) return file.write(std::as_bytes(values));
  if (type == Stored::bf16) return write_as<std::uint16_t>(file, values, [](float value) { return to_bf16(value); });
  write_as<std::uint16_t>(file, values, [&](float value) {
    const std::uint16_t half = to_fp16(value);
    if (std::isfinite(value) && !std::isfinite(from_fp16(half)))
      throw Error(ErrorKind::bad_input, fmt::format("{} has the value {}; f16 holds at most 65504", name, value))
          .hint("choose " + setting("dtype", "bf16"));
    return half;
  });
}

/// The JSON object of the file, and spaces: data begin at a multiple of 8, as readers that map them need.
std::string header_of(const Checkpoint& checkpoint, Stored type) {
  std::string text = R"({"__metadata__":{"format":"pt"})";
  Index offset = 0;
  for (const auto& [key, tensor] : checkpoint.tensors) {
    std::vector<Index> shape;
    for (int i = 0; i < tensor.shape.rank(); ++i) shape.push_back(tensor.shape[i]);
    const Stored written = is_whole(tensor.type) ? Stored::i64 : type;
    const Index end = offset + tensor.shape.count() * static_cast<Index>(size_bytes(written));
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", to_json(Value(key), -1),
                        name(written), fmt::join(shape, ","), offset, end);
    offset = end;
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::string& path, const Checkpoint& checkpoint, Stored type) {
  const std::string header = header_of(checkpoint, type);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const auto& [key, tensor] : checkpoint.tensors) {
    if (is_whole(tensor.type)) {
      const auto values = whole_values_of(tensor);
      file.write(std::as_bytes(std::span(values)));
      continue;
    }
    const Array values = values_of(checkpoint, tensor);
    write_values(file, key, {static_cast<const float*>(values.data()), static_cast<std::size_t>(values.count())}, type);
  }
  file.commit();
}

}  // namespace sonde::separate
