// SPDX-License-Identifier: Apache-2.0
// The opcodes are those of Python's pickletools (Lib/pickletools.py); the stack machine is that of Lib/pickle.py, with
// nodes where that one makes objects. It is a loop without recursion, and no node is ever looked into while reading.
#include "sonde/instruments/separate/weights/pickle.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::separate {

using Id = Pickle::Id;
using Kind = Pickle::Kind;

class PickleReader {
 public:
  PickleReader(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Pickle read() {
    none_ = add({.kind = Kind::none});
    for (std::size_t steps = 0; !done_; ++steps) {
      if (steps == most_steps) throw broken(fmt::format("more than {} opcodes", most_steps));
      step(static_cast<unsigned char>(byte()));
    }
    made_.root_ = pop();
    made_.bytes_ = at_;
    return std::move(made_);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 24, most_steps = std::size_t{1} << 26;

  [[nodiscard]] Error broken(std::string_view why) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: not a valid pickle: {} at byte {}", where_, why, at_))
        .hint("the copy may be incomplete");
  }

  // What stands in the stream.
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_) throw broken("it ends early");
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  std::byte byte() { return take(1)[0]; }
  template <class T>
  T number() {
    return load_little<T>(take(sizeof(T)).data());
  }
  std::string_view text(std::uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string_view line() {
    const auto left = bytes_.subspan(at_);
    const void* end = left.empty() ? nullptr : std::memchr(left.data(), '\n', left.size());
    if (end == nullptr) throw broken("a line does not end");
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - left.data());
    const std::string_view found = text(length);
    ++at_;
    return found;
  }
  /// Of a memo key.
  Index number_in_line() {
    const Pickle::Node node = number_node(line());
    if (node.kind != Kind::whole) throw broken("a number that is none");
    return node.whole;
  }
  [[nodiscard]] Pickle::Node number_node(std::string_view digits) const {
    if (digits == "00" || digits == "01") return {.kind = Kind::boolean, .whole = digits == "01"};
    if (digits.ends_with('L')) digits.remove_suffix(1);
    Index value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (stop != end || error == std::errc::invalid_argument) throw broken("a number that is none");
    if (error != std::errc()) return {.kind = Kind::large, .text = digits};
    return {.kind = Kind::whole, .whole = value};
  }

  // Nodes.
  Id add(const Pickle::Node& node) {
    if (made_.nodes_.size() >= most) throw broken(fmt::format("more than {} objects", most));
    made_.nodes_.push_back(node);
    return static_cast<Id>(made_.nodes_.size() - 1);
  }
  Id add(Kind kind, std::vector<Id> members) {
    if (members.empty() && kind == Kind::tuple) return add({.kind = kind});
    made_.members_.push_back(std::move(members));
    return add({.kind = kind, .members = static_cast<std::uint32_t>(made_.members_.size() - 1)});
  }
  Id add_whole(Index value) { return add({.kind = Kind::whole, .whole = value}); }
  Id add_text(std::string_view text) { return add({.kind = Kind::text, .text = text}); }
  Id add_global(std::string_view module, std::string_view name) {
    const auto [at, added] = made_.globals_.insert(fmt::format("{}.{}", module, name));
    return add({.kind = Kind::global, .text = *at});
  }
  Id add_integer(std::string_view little) {  // two's complement
    if (little.size() > 8) return add({.kind = Kind::large, .text = little});
    std::uint64_t value = little.empty() || (static_cast<unsigned char>(little.back()) & 0x80u) == 0 ? 0 : ~0ull;
    for (std::size_t i = little.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(little[i]);
    return add_whole(static_cast<Index>(value));
  }
  Id call(Id callee, Id arguments) {
    if (made_.nodes_[callee].text != "collections.OrderedDict" || made_.nodes_[callee].kind != Kind::global)
      return add(Kind::call, {callee, arguments});
    // Its only argument, if any, are its pairs.
    std::vector<Id> items;
    const auto given = made_.members(arguments);
    if (given.size() == 1) {
      // One list may stand in many calls: what they copy stays below the size of the stream.
      copied_ += made_.members(given[0]).size();
      if (copied_ > bytes_.size()) throw broken("one list in too many calls");
      for (const Id pair : made_.members(given[0])) {
        const auto both = made_.members(pair);
        if (both.size() == 2) items.insert(items.end(), both.begin(), both.end());
      }
    }
    return add(Kind::dict, std::move(items));
  }

  // The stack.
  void push(Id id) { stack_.push_back(id); }
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Id pop() {
    const Id id = top();
    stack_.pop_back();
    return id;
  }
  [[nodiscard]] Id top() const {
    if (stack_.size() <= floor()) throw broken("an empty stack");
    return stack_.back();
  }
  std::vector<Id> pop_to_mark() {
    if (marks_.empty()) throw broken("no mark");
    std::vector<Id> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  /// Puts items into the container on top; into what is none of this kind (its class is not ours to know) nothing.
  void extend(Kind kind, std::span<const Id> items) {
    const Pickle::Node& node = made_.nodes_[top()];
    if (kind == Kind::dict && items.size() % 2 != 0) throw broken("a key without a value");
    if (node.kind != kind) return;
    auto& members = made_.members_[node.members];
    members.insert(members.end(), items.begin(), items.end());
  }
  void extend_by_last(Kind kind, int count) {
    Id items[2] = {0, 0};
    for (int i = count; i-- > 0;) items[i] = pop();
    extend(kind, {items, static_cast<std::size_t>(count)});
  }
  void push_tuple(int count) {
    std::vector<Id> items(static_cast<std::size_t>(count));
    for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
    push(add(Kind::tuple, std::move(items)));
  }
  void push_call() {
    const Id arguments = pop(), callee = pop();
    push(call(callee, arguments));
  }
  void push_persistent(Id identifier) {
    const Id id = add(Kind::persistent, {identifier});
    made_.persistent_.push_back(id);
    push(id);
  }

  void put(Index key) {
    if (key < 0 || static_cast<std::size_t>(key) >= most) throw broken("a memo key out of range");
    memo_[key] = top();
  }
  void get(Index key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw broken("a memo key that was not set");
    push(found->second);
  }

  void step(unsigned char opcode) {
    if (numbers(opcode) || texts(opcode) || containers(opcode)) return;
    switch (opcode) {
      case 0x80:
        byte();
        return;  // PROTO
      case 0x95:
        number<std::uint64_t>();
        return;  // FRAME: a hint for buffered reading
      case '.':
        done_ = true;
        return;  // STOP
      case '(':
        marks_.push_back(stack_.size());
        return;  // MARK
      case '0':  // POP
        if (stack_.size() > floor())
          stack_.pop_back();
        else
          pop_to_mark();
        return;
      case '1':
        pop_to_mark();
        return;  // POP_MARK
      case '2':
        push(top());
        return;  // DUP
      case 'p':
        put(number_in_line());
        return;  // PUT
      case 'q':
        put(number<std::uint8_t>());
        return;  // BINPUT
      case 'r':
        put(number<std::uint32_t>());
        return;  // LONG_BINPUT
      case 0x94:
        put(static_cast<Index>(memo_.size()));
        return;  // MEMOIZE
      case 'g':
        get(number_in_line());
        return;  // GET
      case 'h':
        get(number<std::uint8_t>());
        return;  // BINGET
      case 'j':
        get(number<std::uint32_t>());
        return;    // LONG_BINGET
      case 'c': {  // GLOBAL
        const std::string_view module = line(), name = line();
        push(add_global(module, name));
        return;
      }
      case 0x93: {  // STACK_GLOBAL
        const Id name = pop(), module = pop();
        if (made_.nodes_[name].kind != Kind::text || made_.nodes_[module].kind != Kind::text)
          throw broken("a name that is not a text");
        push(add_global(made_.nodes_[module].text, made_.nodes_[name].text));
        return;
      }
      case 'R':  // REDUCE
      case 0x81:
        push_call();
        return;  // NEWOBJ
      case 'b':
        pop(), static_cast<void>(top());
        return;  // BUILD: attributes, of which none is needed
      case 'P':
        push_persistent(add_text(line()));
        return;  // PERSID
      case 'Q':
        push_persistent(pop());
        return;  // BINPERSID
      default:
        throw broken(fmt::format("opcode 0x{:02x}, which no checkpoint has", opcode));
    }
  }

  bool numbers(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        push(none_);
        return true;  // NONE
      case 0x88:
        push(add({.kind = Kind::boolean, .whole = 1}));
        return true;  // NEWTRUE
      case 0x89:
        push(add({.kind = Kind::boolean}));
        return true;  // NEWFALSE
      case 'I':       // INT
      case 'L':
        push(add(number_node(line())));
        return true;  // LONG
      case 'J':
        push(add_whole(static_cast<std::int32_t>(number<std::uint32_t>())));
        return true;  // BININT
      case 'K':
        push(add_whole(number<std::uint8_t>()));
        return true;  // BININT1
      case 'M':
        push(add_whole(number<std::uint16_t>()));
        return true;  // BININT2
      case 0x8a:
        push(add_integer(text(number<std::uint8_t>())));
        return true;  // LONG1
      case 0x8b:
        push(add_integer(text(number<std::uint32_t>())));
        return true;  // LONG4
      case 'F':
        line(), push(add({.kind = Kind::real}));
        return true;  // FLOAT
      case 'G':
        take(8), push(add({.kind = Kind::real}));
        return true;  // BINFLOAT
      default:
        return false;
    }
  }

  bool texts(unsigned char opcode) {
    switch (opcode) {
      case 'S': {  // STRING, in quotes
        std::string_view quoted = line();
        if (quoted.size() < 2 || quoted.front() != quoted.back()) throw broken("a text without quotes");
        push(add_text(quoted.substr(1, quoted.size() - 2)));
        return true;
      }
      case 'V':
        push(add_text(line()));
        return true;  // UNICODE
      case 'C':       // SHORT_BINBYTES
      case 'U':       // SHORT_BINSTRING
      case 0x8c:
        push(add_text(text(number<std::uint8_t>())));
        return true;  // SHORT_BINUNICODE
      case 'B':       // BINBYTES
      case 'T':       // BINSTRING
      case 'X':
        push(add_text(text(number<std::uint32_t>())));
        return true;  // BINUNICODE
      case 0x8e:      // BINBYTES8
      case 0x8d:
        push(add_text(text(number<std::uint64_t>())));
        return true;  // BINUNICODE8
      default:
        return false;
    }
  }

  bool containers(unsigned char opcode) {
    switch (opcode) {
      case ')':
        push_tuple(0);
        return true;  // EMPTY_TUPLE
      case 0x85:      // TUPLE1
      case 0x86:      // TUPLE2
      case 0x87:
        push_tuple(opcode - 0x84);
        return true;  // TUPLE3
      case 't':
        push(add(Kind::tuple, pop_to_mark()));
        return true;  // TUPLE
      case ']':
        push(add(Kind::list, {}));
        return true;  // EMPTY_LIST
      case 'l':
        push(add(Kind::list, pop_to_mark()));
        return true;  // LIST
      case 'a':
        extend_by_last(Kind::list, 1);
        return true;  // APPEND
      case 'e':
        extend(Kind::list, pop_to_mark());
        return true;  // APPENDS
      case '}':
        push(add(Kind::dict, {}));
        return true;  // EMPTY_DICT
      case 'd':
        push_dict();
        return true;  // DICT
      case 's':
        extend_by_last(Kind::dict, 2);
        return true;  // SETITEM
      case 'u':
        extend(Kind::dict, pop_to_mark());
        return true;  // SETITEMS
      case 0x8f:
        push(add(Kind::set, {}));
        return true;  // EMPTY_SET
      case 0x90:
        extend(Kind::set, pop_to_mark());
        return true;  // ADDITEMS
      case 0x91:
        push(add(Kind::set, pop_to_mark()));
        return true;  // FROZENSET
      default:
        return false;
    }
  }
  void push_dict() {
    const std::vector<Id> items = pop_to_mark();
    push(add(Kind::dict, {}));
    extend(Kind::dict, items);
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::size_t at_ = 0, copied_ = 0;
  bool done_ = false;
  Id none_ = 0;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<Index, Id> memo_;
  Pickle made_;
};

Pickle Pickle::read(std::span<const std::byte> bytes, const std::string& where) {
  return PickleReader(bytes, where).read();
}

std::optional<Id> Pickle::find(Id dict, std::string_view key) const {
  std::optional<Id> found;
  if (nodes_[dict].kind != Kind::dict) return found;
  const auto items = members(dict);
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const Node& name = nodes_[items[i]];
    if (name.kind == Kind::text && name.text == key) found = items[i + 1];
  }
  return found;
}

std::optional<std::span<const Id>> Pickle::arguments_of(Id call, std::string_view global) const {
  if (nodes_[call].kind != Kind::call) return std::nullopt;
  const auto both = members(call);
  const Node& callee = nodes_[both[0]];
  if (callee.kind != Kind::global || callee.text != global) return std::nullopt;
  return members(both[1]);
}

std::string Pickle::describe(Id id) const {
  const Node& node = nodes_[id];
  switch (node.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "true or false";
    case Kind::whole:
    case Kind::large:
      return "a whole number";
    case Kind::real:
      return "a real number";
    case Kind::text:
      return "a text";
    case Kind::tuple:
      return "a tuple";
    case Kind::list:
      return "a list";
    case Kind::dict:
      return "a dict";
    case Kind::set:
      return "a set";
    case Kind::global:
      return printable(node.text, 100);
    case Kind::call: {
      const Node& callee = nodes_[members(id)[0]];
      return callee.kind == Kind::global ? printable(callee.text, 100) : "the result of a call";
    }
    case Kind::persistent:
      return "a storage";
  }
  return "";
}

}  // namespace sonde::separate
