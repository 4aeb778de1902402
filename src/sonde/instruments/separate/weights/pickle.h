// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// What a pickle (the serialisation of Python, protocols 0 to 4) describes, as data: nothing of it is made, imported or
/// called. A name of Python is a node that holds this name, a call a node that holds what would be called and with
/// what. The bytes have to outlive it.
class Pickle {
 public:
  using Id = std::uint32_t;
  enum class Kind : std::uint8_t {
    none,
    boolean,     ///< whole: 0 or 1
    whole,       ///< whole
    real,        ///< its value is not kept
    large,       ///< a whole number beyond 64 bits: text holds its bytes, the lowest first, or its digits
    text,        ///< text: UTF-8, or bytes; escapes of protocol 0 as they are written
    tuple,       ///< members
    list,        ///< members
    dict,        ///< members: key, value, key, value; of an OrderedDict too
    set,         ///< members
    global,      ///< text: "torch._utils._rebuild_tensor_v2"
    call,        ///< members: what is called, its arguments
    persistent,  ///< members: the identifier of what is stored beside the pickle
  };
  struct Node {
    Kind kind = Kind::none;
    std::uint32_t members = 0;
    Index whole = 0;
    std::string_view text{};
  };

  /// Reads from the beginning of `bytes` to the end of the first pickle. Throws Error(bad_file), beginning with
  /// `where`, for what is no pickle, ends early, has more than 2^24 objects, 2^26 opcodes or a memo key of 2^24, or
  /// uses an opcode that no checkpoint has. Takes time and memory in proportion to the opcodes: at most 60 bytes for
  /// each.
  static Pickle read(std::span<const std::byte> bytes, const std::string& where);

  [[nodiscard]] Id root() const { return root_; }
  /// Of the pickle; others may follow it.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] const Node& operator[](Id id) const { return nodes_[id]; }
  [[nodiscard]] std::span<const Id> members(Id id) const { return members_[nodes_[id].members]; }
  /// All names of Python that occur, in alphabetical order.
  [[nodiscard]] const std::set<std::string, std::less<>>& globals() const { return globals_; }
  /// All nodes of Kind::persistent.
  [[nodiscard]] const std::vector<Id>& persistent() const { return persistent_; }

  /// The value of a key; that which was set last where there are several. Nothing for what is no dict.
  [[nodiscard]] std::optional<Id> find(Id dict, std::string_view key) const;
  /// The arguments of a call of this name of Python.
  [[nodiscard]] std::optional<std::span<const Id>> arguments_of(Id call, std::string_view global) const;
  /// For messages: "posix.getpid" for a call of it or the name itself, else "list", "text".
  [[nodiscard]] std::string describe(Id id) const;

 private:
  friend class PickleReader;
  std::vector<Node> nodes_;
  std::vector<std::vector<Id>> members_{1};  // the first is that of nodes without any
  std::set<std::string, std::less<>> globals_;
  std::vector<Id> persistent_;
  Id root_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace sonde::separate
