// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/yaml.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/weights/yaml_functions.h"

namespace sonde::separate {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20, most_levels = 32;

/// Builds the tree from events. Only the last member of a container is ever open, so that addresses stay valid.
class TreeBuilder {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  void take(const YamlEvent& event) {
    using Kind = YamlEvent::Kind;
    if (event.kind == Kind::document) {
      if (std::exchange(begun_, true)) throw wrong(event, "a second document; expected one");
      return;
    }
    if (event.kind == Kind::end) {
      open_.pop_back();
      return;
    }
    if (event.kind == Kind::alias || event.anchored) throw wrong(event, "anchors and aliases are not supported");
    require_tag(event);
    if (!open_.empty() && open_.back()->kind == Yaml::Kind::map && !key_) {
      take_key(event);
      return;
    }
    Yaml& node = place();
    node.line = event.line;
    if (event.kind == Kind::scalar) {
      node.kind = Yaml::Kind::text;
      node.text = event.text;
    } else if (event.kind == Kind::list || event.kind == Kind::map) {
      node.kind = event.kind == Kind::list ? Yaml::Kind::list : Yaml::Kind::map;
      if (open_.size() == most_levels) throw wrong(event, fmt::format("more than {} levels", most_levels));
      open_.push_back(&node);
    }
  }

  Yaml root;

 private:
  [[nodiscard]] Error wrong(const YamlEvent& event, std::string_view why) const {
    return Error(ErrorKind::bad_file, fmt::format("{}, line {}: {}", name_, event.line, why));
  }

  void require_tag(const YamlEvent& event) const {
    constexpr std::string_view python = "tag:yaml.org,2002:python/";
    if (!event.tag.starts_with(python)) return;
    const std::string_view type = event.tag.substr(python.size());
    if (type == "tuple" || type == "list") return;
    throw wrong(event, fmt::format("the tag !!python/{}; expected data only", printable(type, 100)))
        .hint("only !!python/tuple and !!python/list are read; nothing of a file is executed");
  }

  void take_key(const YamlEvent& event) {
    if (event.kind != YamlEvent::Kind::scalar) throw wrong(event, "a key that is not a text");
    if (open_.back()->members.contains(event.text))
      throw wrong(event, fmt::format("the key \"{}\" is given twice", printable(event.text, 100)));
    key_ = std::string(event.text);
  }

  Yaml& place() {
    if (open_.empty()) return root;
    Yaml& parent = *open_.back();
    if (parent.kind == Yaml::Kind::list) return parent.items.emplace_back();
    Yaml& member = parent.members[*key_];
    key_.reset();
    return member;
  }

  const std::string& name_;
  std::vector<Yaml*> open_;
  std::optional<std::string> key_;
  bool begun_ = false;
};

const YamlFunctions& library() {
  static const YamlFunctions& opened =
      functions_of<YamlFunctions>({.name = "yaml", .library = "yaml-cpp", .package = "libyaml-cpp0.7"});
  return opened;
}

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  const auto at = members.find(key);
  return at == members.end() || at->second.kind == Kind::null ? nullptr : &at->second;
}

Yaml read_yaml(std::string_view text, const std::string& name) {
  if (text.size() > most_bytes)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: has {}; expected at most {}", name, format_bytes(static_cast<double>(text.size())),
                            format_bytes(static_cast<double>(most_bytes))));
  TreeBuilder builder(name);
  const std::string failure = library().parse(
      text, &builder, [](void* context, const YamlEvent& event) { static_cast<TreeBuilder*>(context)->take(event); });
  if (!failure.empty()) throw Error(ErrorKind::bad_file, fmt::format("{}, {}", name, printable(failure, 300)));
  return std::move(builder.root);
}

}  // namespace sonde::separate
