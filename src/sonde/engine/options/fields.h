// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde {

/// A size in bytes as people write it: "8G", "512MiB", 100000.
struct Bytes {
  std::size_t value = 0;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// What a person should know of one field. Members left out take their defaults: {.help = "...", .unit = "nm", .min =
/// 0}.
struct FieldInfo {
  std::string help{};           ///< one sentence, without a full stop
  std::string unit{};           ///< "nm", "frames"; empty for pure numbers and words
  std::optional<double> min{};  ///< smallest value that is allowed (numbers and bytes)
  std::optional<double> max{};  ///< largest value that is allowed
  std::string metavar{};        ///< what stands for the value in help, "N|auto"; empty takes one after the type
  std::string alias{};          ///< a second spelling of the key, "center" for "centre"
  char letter = 0;              ///< a one-letter flag, 'o' for -o
  bool optional = false;        ///< a positional argument that may be left out
  bool array = false;           ///< names a file of an array, for which the array itself may stand (Run::array)
  std::string stands_for{};     ///< "grid.n_xi": the setting of a table that this is, by itself (Tables::lend)
  bool flag_only = false;       ///< concerns this run only (--config, --dry-run): never read from a configuration file
  /// Texts that must have a form: throws Error(usage) beginning with `where` for another one. Empty texts are not
  /// asked.
  void (*check)(std::string_view text, std::string_view where) = nullptr;
  bool changeable = false;  ///< a real number that may be another while the work runs (changeable.h)
};

/// FieldInfo::check of a list of numbers, "1e-5, 2, 30".
void require_numbers(std::string_view text, std::string_view where);

enum class FieldType { text, whole, real, toggle, bytes, choice, list };

/// Who set the value last: the struct's default, a configuration file, or the caller (flag, Python, provenance).
enum class Origin { built_in, file, caller };

/// One described setting, bound to the member of the options struct that holds it.
class Field {
 public:
  std::string key;  ///< "det_bin": TOML key, JSON name and Python keyword
  FieldInfo info;
  FieldType type = FieldType::text;
  bool nullable = false;             ///< may be unset (std::optional)
  bool positional = false;           ///< given by position on the command line
  std::string heading;               ///< group in help, empty for the command's own
  std::vector<std::string> choices;  ///< names of a choice, in order
  Origin origin = Origin::built_in;

  /// "--det-bin".
  [[nodiscard]] std::string flag() const;
  /// What stands for the value in help: "N", "X", "SIZE", "TEXT", "keep|drop"; empty for a toggle.
  [[nodiscard]] std::string placeholder() const;
  /// The value now: a number, text, true or false, a list of texts, or null when unset. Bytes are a whole number.
  [[nodiscard]] Value value() const;
  /// The value now as a person would write it ("2.00 GiB", "keep"); empty when unset.
  [[nodiscard]] std::string text() const;

 private:
  friend class Fields;
  struct Alternatives {
    std::function<void(std::size_t)> set;
    std::function<std::size_t()> get;
  };
  std::variant<std::string*, std::optional<std::string>*, Index*, std::optional<Index>*, double*,
               std::optional<double>*, bool*, Bytes*, std::optional<Bytes>*, std::vector<std::string>*, Alternatives>
      target_;
};

/// Collects the fields of one or several options structs; every use of a setting reads this one description.
///
///   struct LoadOptions {
///     std::string det_bin = "1";
///     std::optional<double> voltage;
///     Edge edge = Edge::keep;
///     void describe(Fields& fields) {
///       fields.add("det_bin", det_bin, {.help = "sum N x N detector pixels", .metavar = "N|auto"});
///       fields.add("voltage", voltage, {.help = "acceleration voltage", .unit = "kV", .min = 1, .max = 2000});
///       fields.choice("edge", edge, {{"keep", Edge::keep}, {"drop", Edge::drop}}, {.help = "incomplete edge bins"});
///     }
///   };
///
/// Key `det_bin` is the flag `--det-bin` and the Python keyword `det_bin`. A toggle `hot_pixels` has the flags
/// `--hot-pixels` and `--no-hot-pixels`. The structs must outlive this object. Describing one key twice is an
/// Error(internal).
class Fields {
 public:
  Fields() = default;
  /// The fields of one struct.
  template <class Options>
  requires requires(Options& options, Fields& fields) { options.describe(fields); }
  explicit Fields(Options& options) { options.describe(*this); }

  void add(std::string key, std::string& value, FieldInfo info = {});
  void add(std::string key, std::optional<std::string>& value, FieldInfo info = {});
  void add(std::string key, Index& value, FieldInfo info = {});
  void add(std::string key, std::optional<Index>& value, FieldInfo info = {});
  void add(std::string key, double& value, FieldInfo info = {});
  void add(std::string key, std::optional<double>& value, FieldInfo info = {});
  void add(std::string key, bool& value, FieldInfo info = {});
  void add(std::string key, Bytes& value, FieldInfo info = {});
  void add(std::string key, std::optional<Bytes>& value, FieldInfo info = {});
  /// A flag that may be repeated; each use adds one element. The first use replaces the default.
  void add(std::string key, std::vector<std::string>& value, FieldInfo info = {});

  /// One of several named values of an enum.
  template <class Enum>
  void choice(const std::string& key, Enum& value,
              std::type_identity_t<std::vector<std::pair<std::string, Enum>>> names, const FieldInfo& info = {}) {
    std::vector<std::string> words;
    std::vector<Enum> values;
    for (auto& [word, meaning] : names) {
      words.push_back(std::move(word));
      values.push_back(meaning);
    }
    add_choice(
        key, std::move(words), [&value, values](std::size_t at) { value = values[at]; },
        [&value, values] {
          std::size_t at = 0;
          while (at + 1 < values.size() && values[at] != value) ++at;
          return at;
        },
        info);
  }

  /// A positional argument, in order. A vector takes all remaining ones and must come last.
  void positional(std::string key, std::string& value, FieldInfo info = {});
  void positional(std::string key, std::vector<std::string>& value, FieldInfo info = {});

  /// A field as another object describes it, bound to the same member.
  void add(const Field& described) { insert(described); }

  /// Fields added from now on stand below this heading in help; empty goes back to the command's own.
  void heading(std::string title) { heading_ = std::move(title); }

  [[nodiscard]] const std::vector<Field>& all() const { return fields_; }
  /// By key or alias; nullptr when unknown.
  [[nodiscard]] const Field* find(std::string_view key) const;
  /// Keys and aliases, for messages that name near misses.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool is_set(std::string_view key) const;

  /// Sets a field from what a person typed. `where` begins the message of an error: "--det-bin". Throws Error(usage)
  /// on an unknown key (naming the nearest), a text of another type, and a value outside the limits. Texts given to a
  /// repeatable field by one origin are collected, those of a stronger origin replace them.
  void assign_text(std::string_view key, std::string_view text, std::string_view where, Origin origin = Origin::caller);

  /// Sets a field from typed data (TOML, JSON, Python). Null unsets a nullable field. Text fields take numbers too
  /// (`det_bin = 4`) and lists (`scan_shape = [256, 256]` is "256,256", `[[1, 2], [3, 4]]` is "1,2,3,4"), byte fields
  /// take text ("8G") and whole numbers, lists take a list or one item.
  void assign(std::string_view key, const Value& value, std::string_view where, Origin origin = Origin::caller);

  /// Sets every member of an object, for instance the options echoed in a report. Collects all problems into one error.
  void assign_all(const Value& object, std::string_view where, Origin origin = Origin::caller);

  /// {"det_bin": "4", "voltage": 300.0, ...}: every field with its present value, null for one that stands for the
  /// setting of a table and was not given.
  [[nodiscard]] Value echo() const;

 private:
  template <class T>
  void bind(std::string key, T& value, FieldType type, FieldInfo info);
  void add_choice(std::string key, std::vector<std::string> words, std::function<void(std::size_t)> set,
                  std::function<std::size_t()> get, FieldInfo info);
  void insert(Field field);
  Field& require(std::string_view key, std::string_view where);
  void store_text(Field& field, std::string text, std::string_view where, Origin origin);
  void store_number(Field& field, double number, std::optional<Index> whole, std::string_view where);

  std::vector<Field> fields_;
  std::string heading_;
};

/// The same error, with all its problems, as a bad file when it is one of usage.
[[nodiscard]] Error of_file(const Error& error);

/// Runs `body`, which takes settings from a file: what is wrong usage on a command line makes a bad file there. The one
/// place that decides between Error(usage) and Error(bad_file) for settings.
template <class Body>
void take_from_file(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    throw of_file(error);
  }
}

/// The options with every default in place, changed by what a file says of them (a report's echo), all checked. Throws
/// Error(bad_file) beginning with `where`, the file.
template <class Options>
[[nodiscard]] Options options_from(const Value& values, std::string_view where) {
  Options options;
  take_from_file([&] { Fields(options).assign_all(values, where); });
  return options;
}

}  // namespace sonde
