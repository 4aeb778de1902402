// SPDX-License-Identifier: Apache-2.0
// The format is that of the safetensors library (huggingface/safetensors, README): the length of a JSON object, the
// object {name: {dtype, shape, data_offsets}}, the data.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/instruments/separate/weights/formats.h"

namespace sonde::separate {
namespace {

constexpr std::uint64_t most_header_bytes = 100'000'000;
constexpr std::size_t length_bytes = sizeof(std::uint64_t);

Error broken(const std::string& path, std::string_view why) {
  return Error(ErrorKind::bad_file, fmt::format("{}: not a valid safetensors file: {}", path, why))
      .hint("the copy may be incomplete");
}

struct Described {
  std::string name{}, dtype{};
  std::vector<std::uint64_t> shape{}, offsets{};
};

/// Takes the events of the JSON parser, so that no tree of a hostile header is built. The only values are texts, and
/// lists of whole numbers, two objects deep.
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Described> tensors;
  std::string wrong;

  bool start_object(std::size_t) override {
    if (++depth_ > 2) return fail("an object too deep");
    if (depth_ == 2 && !metadata_) tensors.push_back({.name = key_});
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(std::string& text) override {
    key_ = std::move(text);
    if (depth_ == 1) metadata_ = key_ == "__metadata__";
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ != 2) return fail("a text");
    if (!metadata_ && key_ == "dtype") tensors.back().dtype = std::move(text);
    return true;
  }
  bool start_array(std::size_t) override {
    numbers_ = depth_ != 2 || metadata_ || list_ ? nullptr
               : key_ == "shape"                 ? &tensors.back().shape
               : key_ == "data_offsets"          ? &tensors.back().offsets
                                                 : nullptr;
    list_ = true;
    return numbers_ != nullptr || fail("a list");
  }
  bool end_array() override {
    list_ = false;
    return true;
  }
  bool number_unsigned(std::uint64_t value) override {
    if (!list_) return fail("a number");
    numbers_->push_back(value);
    return numbers_->size() <= Shape::max_rank || fail("more than eight dimensions");
  }
  bool number_integer(std::int64_t) override { return fail("a negative number"); }
  bool number_float(double, const std::string&) override { return fail("a real number"); }
  bool null() override { return fail("null"); }
  bool boolean(bool) override { return fail("true or false"); }
  bool binary(binary_t&) override { return fail("bytes"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    wrong = fmt::format("its header is not JSON at byte {}", position);
    return false;
  }

 private:
  bool fail(std::string_view what) {
    wrong = fmt::format("{} in the header after \"{}\"", what, printable(key_, 100));
    return false;
  }

  int depth_ = 0;
  bool metadata_ = false, list_ = false;
  std::string key_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

Stored stored_of(const std::string& path, const Described& tensor) {
  for (const Stored type : {Stored::f32, Stored::f16, Stored::bf16, Stored::f64, Stored::i64, Stored::i32, Stored::i16,
                            Stored::i8, Stored::u8, Stored::boolean}) {
    if (name(type) == tensor.dtype) return type;
  }
  throw Error(ErrorKind::not_supported, fmt::format("{}: {} has elements of type \"{}\"", path,
                                                    printable(tensor.name, 100), printable(tensor.dtype, 40)))
      .hint("store it as F32, F16, BF16, F64 or I64");
}

StoredTensor placed(const std::string& path, const Described& described, std::span<const std::byte> data) {
  const auto wrong = [&](std::string_view why) {
    return broken(path, fmt::format("{}: {}", printable(described.name, 100), why));
  };
  StoredTensor tensor{.type = stored_of(path, described)};
  if (described.offsets.size() != 2) throw wrong("data_offsets are not two numbers");
  const std::uint64_t begin = described.offsets[0], end = described.offsets[1];
  if (begin > end || end > data.size())
    throw wrong(fmt::format("data_offsets {} to {}; the file has {} bytes of data", begin, end, data.size()));
  for (const std::uint64_t extent : described.shape) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) throw wrong("an extent beyond 2^63");
    tensor.shape.append(static_cast<Index>(extent));
  }
  const auto count = count_within(tensor.shape, static_cast<Index>(data.size()));
  if (!count || static_cast<std::uint64_t>(*count) * size_bytes(tensor.type) != end - begin)
    throw wrong(fmt::format("{} bytes for shape {} of {}", end - begin, tensor.shape.text(), described.dtype));
  tensor.strides = contiguous_strides(tensor.shape);
  tensor.first = data.data() + begin;
  return tensor;
}

}  // namespace

bool is_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > length_bytes && bytes[length_bytes] == std::byte{'{'} &&
         load_little<std::uint64_t>(bytes.data()) <= bytes.size() - length_bytes;
}

void read_safetensors(Checkpoint& checkpoint, const std::string& state_key) {
  const std::string& path = checkpoint.path;
  checkpoint.format = "safetensors";
  if (!state_key.empty())
    throw Error(ErrorKind::usage, path + ": safetensors files have no keys above their tensors")
        .hint("omit " + setting("state_key"));
  const auto bytes = checkpoint.file->bytes();
  if (bytes.size() < length_bytes) throw broken(path, "it is too short");
  const auto header_bytes = load_little<std::uint64_t>(bytes.data());
  if (header_bytes > std::min<std::uint64_t>(most_header_bytes, bytes.size() - length_bytes))
    throw broken(path, fmt::format("a header of {} bytes in a file of {}", header_bytes, bytes.size()));

  HeaderEvents events;
  const auto* const header = reinterpret_cast<const char*>(bytes.data()) + length_bytes;
  if (!nlohmann::json::sax_parse(header, header + header_bytes, &events)) throw broken(path, events.wrong);

  const auto data = bytes.subspan(length_bytes + header_bytes);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const Described& each : events.tensors) {
    if (!checkpoint.tensors.emplace(printable(each.name, 300), placed(path, each, data)).second)
      throw broken(path, fmt::format("two tensors have the name {}", printable(each.name, 100)));
    if (each.offsets[0] < each.offsets[1]) ranges.emplace_back(each.offsets[0], each.offsets[1]);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second)
      throw broken(path, fmt::format("two tensors share the byte {}", ranges[i].first));
  }
}

}  // namespace sonde::separate
