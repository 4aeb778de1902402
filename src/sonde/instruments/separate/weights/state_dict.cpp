// SPDX-License-Identifier: Apache-2.0
// How PyTorch writes tensors: torch/_utils.py (_rebuild_tensor_v2 and its like) and torch/serialization.py.
#include "sonde/instruments/separate/weights/state_dict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/weights/formats.h"

namespace sonde::separate {
namespace {

using Id = Pickle::Id;
using Kind = Pickle::Kind;

constexpr std::pair<std::string_view, Stored> storages[] = {
    {"torch.FloatStorage", Stored::f32},   {"torch.HalfStorage", Stored::f16}, {"torch.BFloat16Storage", Stored::bf16},
    {"torch.DoubleStorage", Stored::f64},  {"torch.LongStorage", Stored::i64}, {"torch.IntStorage", Stored::i32},
    {"torch.ShortStorage", Stored::i16},   {"torch.CharStorage", Stored::i8},  {"torch.ByteStorage", Stored::u8},
    {"torch.BoolStorage", Stored::boolean}};

constexpr std::string_view state_keys[] = {"state", "state_dict", "model_state_dict", "model", "ema", "net"};

/// Names that describe data and run nothing.
bool is_understood(std::string_view global) {
  static const std::set<std::string_view> names = {"collections.OrderedDict",
                                                   "torch._utils._rebuild_tensor",
                                                   "torch._utils._rebuild_tensor_v2",
                                                   "torch._utils._rebuild_parameter",
                                                   "torch._utils._rebuild_parameter_with_state",
                                                   "torch.storage.UntypedStorage",
                                                   "torch.storage.TypedStorage",
                                                   "torch.Size",
                                                   "torch.device"};
  static const std::set<std::string_view> dtypes = {"float32", "float64", "float16", "bfloat16", "int64", "int32",
                                                    "int16",   "int8",    "uint8",   "bool",     "float", "double",
                                                    "half",    "long",    "int",     "short"};
  constexpr std::string_view torch = "torch.";
  return names.contains(global) ||
         std::any_of(std::begin(storages), std::end(storages),
                     [&](const auto& each) { return each.first == global; }) ||
         (global.starts_with(torch) && dtypes.contains(global.substr(torch.size())));
}

/// Names that only a file that wants to run something has.
bool is_code(std::string_view global) {
  static const std::set<std::string_view> modules = {
      "os",     "posix",           "nt",       "subprocess", "sys",      "runpy",      "importlib",
      "imp",    "shutil",          "socket",   "ctypes",     "pty",      "pickle",     "marshal",
      "code",   "codeop",          "timeit",   "pdb",        "bdb",      "webbrowser", "pip",
      "signal", "multiprocessing", "operator", "asyncio",    "commands", "pydoc",      "cProfile"};
  static const std::set<std::string_view> builtins = {"eval",    "exec",       "compile", "getattr",  "setattr",
                                                      "delattr", "__import__", "open",    "globals",  "locals",
                                                      "vars",    "input",      "apply",   "execfile", "breakpoint"};
  const std::string_view first = global.substr(0, global.find('.'));
  if (first == "builtins" || first == "__builtin__") return builtins.contains(global.substr(global.rfind('.') + 1));
  return modules.contains(first) || global == "types.CodeType" || global == "types.FunctionType";
}

/// Reads tensors out of one pickle.
class Tensors {
 public:
  Tensors(const Pickle& pickle, const std::string& path,
          const std::function<std::span<const std::byte>(const StorageId&)>& bytes_of)
      : pickle_(pickle), path_(path), bytes_of_(bytes_of) {}

  /// The call that makes a tensor: inside a parameter too.
  [[nodiscard]] std::optional<std::span<const Id>> tensor_call(Id id) const {
    // A parameter holds a tensor; no file nests them deeper.
    for (const auto* name : {"torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"}) {
      const auto arguments = pickle_.arguments_of(id, name);
      if (arguments && !arguments->empty()) id = (*arguments)[0];
    }
    for (const auto* name : {"torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor"}) {
      if (const auto arguments = pickle_.arguments_of(id, name)) return arguments;
    }
    return std::nullopt;
  }

  [[nodiscard]] StoredTensor read(const std::string& name, std::span<const Id> call) const {
    const auto wrong = [&](std::string_view why) {
      return Error(ErrorKind::bad_file, fmt::format("{}: {}: {}", path_, name, why)).hint("the file is damaged");
    };
    if (call.size() < 4 || pickle_[call[0]].kind != Kind::persistent) throw wrong("a tensor without a storage");
    const StorageId storage = storage_id(pickle_, call[0], path_ + ": " + name);
    const auto sizes = numbers(call[2]), strides = numbers(call[3]);
    const Index offset = pickle_[call[1]].kind == Kind::whole ? pickle_[call[1]].whole : -1;
    if (!sizes || !strides || sizes->size() != strides->size() || offset < 0)
      throw wrong("size, stride or offset of a tensor are not whole numbers that fit each other");
    if (sizes->size() > Shape::max_rank)
      throw wrong(fmt::format("{} dimensions; expected at most {}", sizes->size(), Shape::max_rank));

    StoredTensor tensor{.type = storage.type};
    for (std::size_t i = 0; i < sizes->size(); ++i) {
      tensor.shape.append((*sizes)[i]);
      tensor.strides[i] = (*strides)[i];
    }
    const auto bytes = bytes_of_(storage);
    const auto count = count_within(tensor.shape, storage.count);
    if (!count || !reaches_within(*sizes, *strides, offset, *count == 0 ? storage.count + 1 : storage.count))
      throw wrong(
          fmt::format("a tensor {} reaches beyond its storage of {} elements", tensor.shape.text(), storage.count));
    tensor.first = bytes.data() + static_cast<std::size_t>(offset) * size_bytes(storage.type);
    return tensor;
  }

 private:
  /// The whole numbers of a tuple, a list or a torch.Size, none negative.
  [[nodiscard]] std::optional<std::vector<Index>> numbers(Id id) const {
    if (const auto arguments = pickle_.arguments_of(id, "torch.Size")) {
      if (arguments->size() != 1) return std::nullopt;
      id = (*arguments)[0];
    }
    if (pickle_[id].kind != Kind::tuple && pickle_[id].kind != Kind::list) return std::nullopt;
    std::vector<Index> found;
    for (const Id each : pickle_.members(id)) {
      if (pickle_[each].kind != Kind::whole || pickle_[each].whole < 0) return std::nullopt;
      found.push_back(pickle_[each].whole);
    }
    return found;
  }

  /// Whether offset + sum (size - 1) stride < count; a tensor without elements reaches nowhere.
  static bool reaches_within(const std::vector<Index>& sizes, const std::vector<Index>& strides, Index offset,
                             Index count) {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return offset < count;
    Index left = count - 1 - offset;
    for (std::size_t i = 0; i < sizes.size() && left >= 0; ++i) {
      const Index steps = sizes[i] - 1;
      if (steps > 0 && strides[i] > left / steps) return false;
      left -= steps * strides[i];
    }
    return left >= 0;
  }

  const Pickle& pickle_;
  const std::string& path_;
  const std::function<std::span<const std::byte>(const StorageId&)>& bytes_of_;
};

struct Members {
  Index tensors = 0, others = 0;
};
Members members_of(const Pickle& pickle, const Tensors& tensors, Id dict) {
  Members found;
  if (pickle[dict].kind != Kind::dict) return found;
  const auto items = pickle.members(dict);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    ++(pickle[items[i]].kind == Kind::text && tensors.tensor_call(items[i + 1]) ? found.tensors : found.others);
  }
  return found;
}

std::vector<std::string> text_keys(const Pickle& pickle, Id dict) {
  std::vector<std::string> keys;
  const auto items = pickle[dict].kind == Kind::dict ? pickle.members(dict) : std::span<const Id>();
  for (std::size_t i = 0; i + 1 < items.size() && keys.size() < 12; i += 2) {
    if (pickle[items[i]].kind == Kind::text) keys.push_back(printable(pickle[items[i]].text, 60));
  }
  return keys;
}

/// The dict of parameters, and its key.
std::pair<Id, std::string> locate(const Pickle& pickle, const Tensors& tensors, const std::string& path,
                                  const std::string& state_key) {
  if (!state_key.empty()) {
    const auto at = pickle.find(pickle.root(), state_key);
    if (at && members_of(pickle, tensors, *at).tensors > 0) return {*at, state_key};
    throw Error(ErrorKind::usage, fmt::format("{}: {}", path,
                                              at ? fmt::format("\"{}\" holds no tensors", state_key)
                                                 : fmt::format("has no \"{}\"", state_key)))
        .hint(fmt::format("the file has {}: give one of them as {}", join_words(text_keys(pickle, pickle.root())),
                          setting("state_key")));
  }
  const Members whole = members_of(pickle, tensors, pickle.root());
  if (whole.tensors > 0 && whole.others == 0) return {pickle.root(), ""};
  for (const std::string_view key : state_keys) {
    const auto at = pickle.find(pickle.root(), key);
    if (at && members_of(pickle, tensors, *at).tensors > 0) return {*at, std::string(key)};
  }
  if (whole.tensors > 0) return {pickle.root(), ""};
  const auto keys = text_keys(pickle, pickle.root());
  Error error(ErrorKind::bad_file,
              fmt::format("{}: holds no tensors under the names of parameters, but {}", path,
                          keys.empty() ? pickle.describe(pickle.root()) : "the keys " + join_words(keys)));
  throw std::move(error).hint(
      "a whole model that was pickled cannot be read without its program: save its "
      "state_dict(), or name the key of the parameters by " +
      setting("state_key"));
}

void note_globals(Checkpoint& checkpoint, const Pickle& pickle) {
  std::vector<std::string> code;
  for (const std::string& each : pickle.globals()) {
    if (is_understood(each)) continue;
    checkpoint.opaque_globals.push_back(printable(each, 100));
    if (is_code(each)) code.push_back(checkpoint.opaque_globals.back());
  }
  if (code.empty()) return;
  if (code.size() > 5) code.resize(5);
  checkpoint.warnings.push_back(fmt::format("{}: the checkpoint contains code references ({}); nothing was executed",
                                            checkpoint.path, join_words(code)));
}

}  // namespace

StorageId storage_id(const Pickle& pickle, Id persistent, const std::string& where) {
  const auto wrong = [&](std::string_view why) {
    return Error(ErrorKind::bad_file, fmt::format("{}: {}", where, why)).hint("the file is damaged");
  };
  const auto parts = pickle.members(pickle.members(persistent)[0]);
  const auto kind = [&](std::size_t i) { return pickle[parts[i]].kind; };
  if (parts.size() < 5 || kind(0) != Kind::text || pickle[parts[0]].text != "storage" || kind(1) != Kind::global ||
      kind(2) != Kind::text || kind(4) != Kind::whole || pickle[parts[4]].whole < 0)
    throw wrong("a storage that is not described as PyTorch does");
  if (parts.size() > 5 && kind(5) != Kind::none)
    throw Error(ErrorKind::not_supported, where + ": a storage that is part of another one")
        .hint("load it with PyTorch and save it again");
  const std::string_view type = pickle[parts[1]].text;
  for (const auto& [storage, stored] : storages) {
    if (storage == type) return {.key = pickle[parts[2]].text, .type = stored, .count = pickle[parts[4]].whole};
  }
  throw Error(ErrorKind::not_supported, fmt::format("{}: unsupported object {}", where, printable(type, 100)));
}

void read_state_dict(Checkpoint& checkpoint, const Pickle& pickle, const std::string& state_key,
                     const std::function<std::span<const std::byte>(const StorageId&)>& bytes_of) {
  note_globals(checkpoint, pickle);
  const Tensors tensors(pickle, checkpoint.path, bytes_of);
  const auto [dict, key] = locate(pickle, tensors, checkpoint.path, state_key);
  checkpoint.state_key = printable(key, 100);
  const auto items = pickle.members(dict);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (pickle[items[i]].kind != Kind::text) continue;
    const std::string name = printable(pickle[items[i]].text, 300);
    if (const auto call = tensors.tensor_call(items[i + 1]))
      checkpoint.tensors.insert_or_assign(name, tensors.read(name, *call));
    else
      checkpoint.others.insert_or_assign(name, pickle.describe(items[i + 1]));
  }
}

}  // namespace sonde::separate
