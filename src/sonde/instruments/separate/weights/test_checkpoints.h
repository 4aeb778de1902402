// SPDX-License-Identifier: Apache-2.0
// Checkpoints as torch.save writes them, made without PyTorch: for tests, of any size.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

/// Opcodes of protocol 2, with a memo as Python's pickler keeps it.
class PickleText {
 public:
  PickleText() { out = "\x80\x02"; }
  PickleText& op(std::string_view opcodes) {
    out += opcodes;
    return *this;
  }
  PickleText& text(std::string_view value) { return op("X").number(value.size(), 4).op(value).put(); }
  PickleText& whole(Index value) { return op("J").number(static_cast<std::uint64_t>(value), 4); }
  PickleText& global(std::string_view module, std::string_view name) {
    return op("c").op(module).op("\n").op(name).op("\n").put();
  }
  PickleText& tuple(const std::vector<Index>& values) {
    op("(");
    for (const Index each : values) whole(each);
    return op("t").put();
  }
  /// torch._utils._rebuild_tensor_v2 of a contiguous tensor of the storage with this key.
  PickleText& tensor(std::string_view storage, std::string_view key, const std::vector<Index>& shape) {
    Index count = 1;
    std::vector<Index> strides(shape.size());
    for (std::size_t i = shape.size(); i-- > 0; count *= shape[i]) strides[i] = count;
    global("torch._utils", "_rebuild_tensor_v2").op("((").text("storage").global("torch", storage).text(key);
    text("cpu").whole(count).op("t").put().op("Q").whole(0).tuple(shape).tuple(strides).op("\x89");
    return global("collections", "OrderedDict").op(")R").put().op("t").put().op("R").put();
  }

  std::string out;

 private:
  PickleText& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return *this;
  }
  PickleText& put() {
    const auto key = static_cast<std::uint64_t>(memo_++);
    return key < 256 ? op("q").number(key, 1) : op("r").number(key, 4);
  }
  int memo_ = 0;
};

/// Writes a ZIP archive of stored entries, each at a multiple of 64 bytes.
class ZipText {
 public:
  explicit ZipText(const std::string& path) : file_(path, std::ios::binary) {}
  /// `crc`: as it is, unless given.
  void add(const std::string& name, std::string_view bytes, std::int64_t crc = -1) {
    const auto sum =
        crc >= 0 ? static_cast<std::uint32_t>(crc)
                 : static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    const std::uint64_t header = at_;
    const std::uint64_t padding = 4 + (64 - (at_ + 30 + name.size() + 4) % 64) % 64;
    std::string local = "PK\x03\x04";
    append(local, {{20, 2}, {0x0800, 2}, {0, 2}, {0, 4}, {sum, 4}, {bytes.size(), 4}, {bytes.size(), 4}});
    append(local, {{name.size(), 2}, {padding, 2}});
    local += name + "FB";  // PyTorch's own padding field
    append(local, {{padding - 4, 2}});
    local.append(padding - 4, 'Z');
    write(local), write(bytes);
    std::string entry = "PK\x01\x02";
    append(entry, {{20, 2}, {20, 2}, {0x0800, 2}, {0, 2}, {0, 4}, {sum, 4}, {bytes.size(), 4}, {bytes.size(), 4}});
    append(entry, {{name.size(), 2}, {0, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 4}, {header, 4}});
    directory_ += entry + name;
    ++entries_;
  }
  void close() {
    const std::uint64_t begin = at_;
    write(directory_);
    std::string end = "PK\x05\x06";
    append(end, {{0, 2}, {0, 2}, {entries_, 2}, {entries_, 2}, {directory_.size(), 4}, {begin, 4}, {0, 2}});
    write(end);
    file_.close();
  }

 private:
  static void append(std::string& to, const std::vector<std::pair<std::uint64_t, int>>& numbers) {
    for (const auto& [value, bytes] : numbers) {
      for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
    }
  }
  void write(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    at_ += bytes.size();
  }

  std::ofstream file_;
  std::uint64_t at_ = 0, entries_ = 0;
  std::string directory_;
};

struct TorchStyle {
  bool two = false;       ///< as PyTorch 2.x: further entries, "archive" as folder
  bool sums = true;       ///< false: checksums are 0, as torch.serialization.set_crc32_options(False) leaves them
  bool training = false;  ///< inside the state of a training loop, with an optimiser and NumPy scalars
};

inline std::string_view bytes_of(const Array& array) {
  return {static_cast<const char*>(array.data()), static_cast<std::size_t>(array.count()) * sizeof(float)};
}

/// A numpy.float64, as NumPy pickles it.
inline void numpy_scalar(PickleText& pickle) {
  pickle.global("numpy.core.multiarray", "scalar").op("(").global("numpy", "dtype").op("(").text("f8");
  pickle.op("\x89\x88tR(").whole(3).text("<").op("NNN").whole(-1).whole(-1).whole(0).op("tb");
  pickle.global("_codecs", "encode").op("(").text("\xc3\x98\x1d\x40").text("latin1").op("tRtR");
}

/// Values by name as torch.save writes a state dict.
inline void write_torch(const std::string& path, const ParameterValues& values, const TorchStyle& style = {}) {
  PickleText pickle;
  if (style.training) {
    pickle.op("}(").text("epoch").whole(3).text("best_metric");
    numpy_scalar(pickle);
    pickle.text("state_dict");
  }
  pickle.global("collections", "OrderedDict").op(")R(");
  std::vector<std::string_view> storages;
  const auto add = [&](const Array& array) {
    std::vector<Index> shape;
    for (int i = 0; i < array.shape().rank(); ++i) shape.push_back(array.shape()[i]);
    pickle.tensor("FloatStorage", std::to_string(storages.size()), shape);
    storages.push_back(bytes_of(array));
  };
  for (const auto& [name, array] : values) {
    pickle.text(name);
    add(array);
  }
  pickle.op("u");
  if (style.training) {
    pickle.text("optimizer").op("}(").text("state").op("}(").whole(0).op("}(").text("exp_avg");
    add(values.begin()->second);
    pickle.op("uu").text("param_groups").op("](}(").text("lr").op("G\x3f\x17\x97\xcc\x39\xff\xd6\x0f").op("ueuu");
  }
  pickle.op(".");

  ZipText zip(path);
  const std::string root = style.two ? "archive/" : "model/";
  const std::int64_t crc = style.sums ? -1 : 0;
  zip.add(root + "data.pkl", pickle.out, crc);
  if (style.two) {
    zip.add(root + ".format_version", "1", crc);
    zip.add(root + ".storage_alignment", "64", crc);
    zip.add(root + "byteorder", "little", crc);
  }
  for (std::size_t i = 0; i < storages.size(); ++i) zip.add(root + "data/" + std::to_string(i), storages[i], crc);
  zip.add(root + "version", "3\n", crc);
  if (style.two) zip.add(root + ".data/serialization_id", std::string(40, '7'), crc);
  zip.close();
}

}  // namespace sonde::separate
