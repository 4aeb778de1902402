// SPDX-License-Identifier: Apache-2.0
// Text to tree. The tree becomes a mask in expression_mask.cpp.
#include "sonde/instruments/stem/image/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/image/detector_shapes.h"
#include "sonde/instruments/stem/image/expression_tree.h"
#include "sonde/instruments/stem/image/presets.h"

namespace sonde::stem {
namespace {

// Evaluation and destruction recurse into the tree: limits, so that no text exhausts the stack.
constexpr int deepest = 200;            // nested parentheses and negations
constexpr int most_parts = 1000;        // shapes and operators
constexpr double largest_number = 1e9;  // coordinates beyond make no sense and would lose whole pixels

std::vector<std::string> known_names() {
  std::vector<std::string> names = {"file", "all"};
  for (const DetectorShape& shape : detector_shapes()) names.emplace_back(shape.name);
  for (const DetectorShape& family : detector_families()) names.emplace_back(family.name);
  for (const DetectorPreset& preset : detector_presets) names.emplace_back(preset.name);
  return names;
}

/// "only phi0 of segment is an angle"
std::string only_angles() {
  std::vector<std::string> angles;
  for (const DetectorShape& shape : detector_shapes())
    for (const ShapeArgument& argument : shape.arguments)
      if (kind(argument.role) == ArgumentKind::angle)
        angles.push_back(fmt::format("{} of {}", argument.name, shape.name));
  return fmt::format("only {} {}", join_words(angles), angles.size() == 1 ? "is an angle" : "are angles");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(DetectorExpression::Tree& tree) : tree_(tree), text_(tree.text) {}

  void parse() {
    tree_.root = any();
    if (!at_end()) fail("expected an operator or the end");
  }

 private:
  using Part = std::unique_ptr<Node>;

  [[noreturn]] void fail(const std::string& message, std::size_t place, const std::string& hint = "") const {
    Error error = expression_error(message, text_, place);
    if (!hint.empty()) error.hint(hint);
    throw error;
  }
  [[noreturn]] void fail(const std::string& message) const { fail(message, place_); }

  char peek() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\t' || text_[place_] == '\n')) ++place_;
    return place_ < text_.size() ? text_[place_] : '\0';
  }
  bool at_end() { return peek() == '\0' && place_ >= text_.size(); }
  bool take(char c) {
    if (peek() != c || place_ >= text_.size()) return false;
    ++place_;
    return true;
  }
  void expect(char c, std::string_view what) {
    if (!take(c)) fail(fmt::format("expected {}", what));
  }

  Part make(std::size_t place) {
    if (++parts_ > most_parts) fail(fmt::format("more than {} parts", most_parts), place);
    auto node = std::make_unique<Node>();
    node->place = place;
    return node;
  }

  Part join(NodeKind kind, std::size_t place, Part left, Part right) {
    Part node = make(place);
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    const int first = node->left->sets, second = node->right != nullptr ? node->right->sets : 0;
    node->sets = first == second ? first + 1 : std::max(first, second);
    return node;
  }

  Part any() {
    Part left = either();
    while (take('|')) {
      const std::size_t place = place_ - 1;
      left = join(NodeKind::any, place, std::move(left), either());
    }
    return left;
  }

  Part either() {
    Part left = both();
    while (take('^')) {
      const std::size_t place = place_ - 1;
      left = join(NodeKind::either, place, std::move(left), both());
    }
    return left;
  }

  Part both() {
    Part left = single();
    for (;;) {
      const char sign = peek();
      if (sign != '&' && sign != '-') return left;
      const std::size_t place = place_++;
      left = join(sign == '&' ? NodeKind::both : NodeKind::without, place, std::move(left), single());
    }
  }

  Part single() {
    if (++depth_ > deepest) fail(fmt::format("more than {} nested parts", deepest));
    Part part;
    const std::size_t place = (peek(), place_);
    if (take('!')) {
      part = join(NodeKind::negation, place, single(), nullptr);
    } else if (take('(')) {
      part = any();
      expect(')', "a closing parenthesis");
    } else {
      part = shape();
    }
    --depth_;
    return part;
  }

  std::string word() {
    peek();
    const std::size_t first = place_;
    while (place_ < text_.size() && (is_letter(text_[place_]) || (place_ > first && is_digit(text_[place_])))) ++place_;
    return to_lower(text_.substr(first, place_ - first));
  }

  Part shape() {
    peek();
    Part node = make(place_);
    const std::string name = word();
    if (name.empty()) fail(at_end() ? "expected a shape, but the text ends" : "expected a shape");
    if (name == "com")
      fail("com-row and com-col are first moments, not masks", node->place, "give them without other shapes");
    if (name == "all") return node;
    for (const DetectorPreset& preset : detector_presets)
      if (preset.name == name) {
        node->kind = NodeKind::shape;
        node->shape = find_detector_shape("annulus");
        node->numbers = {{0, Unit::automatic, node->place},
                         {0, Unit::automatic, node->place},
                         {preset.r_in, Unit::rho, node->place},
                         {preset.r_out, Unit::rho, node->place}};
        tree_.needs_disk = true;
        return node;
      }
    if (name == "file") {
      node->kind = NodeKind::file;
      file_path(*node);
      return node;
    }
    if (const DetectorShape* known = find_detector_shape(name)) {
      node->kind = NodeKind::shape;
      node->shape = known;
      arguments(*node);
      return node;
    }
    if (const DetectorShape* known = find_detector_family(name)) {
      family(*node, *known);
      return node;
    }
    const std::string hint = "known names are " + join_words(known_names());
    fail(fmt::format("unknown name \"{}\"{}", name, did_you_mean(name, known_names())), node->place, hint);
  }

  /// The node stays one of all pixels: it is written out before anything is evaluated.
  void family(Node& node, const DetectorShape& known) {
    if (!tree_.allows_family)
      fail(fmt::format("{} are several detectors, but one is expected here", known.name), node.place,
           known.name == "rings" ? "write one of them as annulus" : "write one of them as segment");
    if (tree_.family.shape != nullptr) fail("an expression has only one of rings and segments", node.place);
    node.shape = &known;
    arguments(node);
    const Number &inner = node.numbers[2], &outer = node.numbers[3];
    if (inner.value != 0 && inner.unit != outer.unit)
      fail("one radius is in pixels, the other one in rho", inner.place, "give both in one unit");
    if (!(inner.value < outer.value)) fail("the rings have no width", inner.place);
    tree_.family = {&known, node.numbers, node.place, place_};
  }

  void arguments(Node& node) {
    const DetectorShape& known = *node.shape;
    expect('(', fmt::format("( after {}, as in {}", known.name, known.form()));
    if (peek() != ')') {
      do {
        node.numbers.push_back(number());
        node.numbers.back().end = place_;
      } while (take(','));
    }
    expect(')', "a comma or )");
    const std::size_t count = node.numbers.size();
    if (!known.takes(count))
      fail(fmt::format("{} takes other arguments than these {}: {}", known.name, count, known.form()), node.place,
           fmt::format("for instance {}", known.example));
    check(node);
  }

  /// What can be seen without knowing the detector.
  void check(const Node& node) const {
    std::vector<double> values;
    const Number* inner = nullptr;
    for (const Number& each : node.numbers) {
      const ArgumentRole role = node.shape->role(values.size());
      const ArgumentKind may_be = kind(role);
      if (each.unit == Unit::automatic && may_be != ArgumentKind::centre)
        fail("auto means only the row or the column of a centre", each.place);
      if (each.unit == Unit::degree && may_be != ArgumentKind::angle) fail(only_angles(), each.place);
      if (each.unit == Unit::rho && may_be != ArgumentKind::length) fail("only radii are given in rho", each.place);
      if (may_be == ArgumentKind::length && each.value < 0) fail("a radius is not negative", each.place);
      if (role == ArgumentRole::inner_radius) inner = &each;
      if (role == ArgumentRole::outer_radius && inner != nullptr && inner->unit == each.unit &&
          inner->value > each.value)
        fail("the inner radius is larger than the outer one", inner->place);
      values.push_back(each.value);
    }
    if (node.shape->check == nullptr) return;
    if (const std::optional<ShapeFault> fault = node.shape->check(values))
      fail(std::string(fault->message), fault->argument ? node.numbers[*fault->argument].place : node.place,
           std::string(fault->hint));
  }

  Number number() {
    peek();
    Number read;
    read.place = place_;
    const std::string name = word();
    if (name == "auto") {
      read.unit = Unit::automatic;
      tree_.needs_disk = true;
      return read;
    }
    if (name == "rho") {
      read = {1, Unit::rho, read.place};
      tree_.needs_disk = true;
      return read;
    }
    if (!name.empty()) fail("expected a number, auto or rho", read.place);
    if (place_ < text_.size() && text_[place_] == '+') ++place_;
    const char* first = text_.data() + place_;
    const auto [rest, status] = std::from_chars(first, text_.data() + text_.size(), read.value);
    if (status != std::errc() || !(std::abs(read.value) <= largest_number))
      fail(rest == first ? "expected a number, auto or rho" : "a number beyond 1e9", read.place);
    place_ += static_cast<std::size_t>(rest - first);
    const std::size_t suffix_place = place_;
    if (place_ < text_.size() && is_letter(text_[place_])) {
      const std::string suffix = word();
      if (suffix != "rho" && suffix != "deg")
        fail(fmt::format("unknown unit \"{}\"", suffix), suffix_place, "numbers are pixels, or end in rho or deg");
      read.unit = suffix == "rho" ? Unit::rho : Unit::degree;
      tree_.needs_disk = tree_.needs_disk || suffix == "rho";
    }
    return read;
  }

  void file_path(Node& node) {
    expect('(', "( after file, as in file(mask.npy)");
    const char quote = peek();
    const std::size_t first = place_;
    if (quote == '"' || quote == '\'') {
      const std::size_t end = text_.find(quote, first + 1);
      if (end == std::string::npos) fail("the quoted path does not end", first);
      node.path = text_.substr(first + 1, end - first - 1);
      place_ = end + 1;
    } else {
      const std::size_t end = std::min(text_.find_first_of(",)", first), text_.size());
      node.path = trim(std::string_view(text_).substr(first, end - first));
      place_ = end;
    }
    if (node.path.empty()) fail("expected a path", first);
    expect(')', ")");
  }

  DetectorExpression::Tree& tree_;
  const std::string& text_;
  std::size_t place_ = 0;
  int depth_ = 0;
  int parts_ = 0;
};

}  // namespace

Error expression_error(const std::string& message, std::string_view text, std::size_t place) {
  // Long texts are shown around the place; a byte that would move the caret is shown as a question mark.
  constexpr std::size_t width = 76;
  place = std::min(place, text.size());
  const std::size_t first = text.size() <= width || place < width / 2 ? 0 : place - width / 2;
  std::string shown(text.substr(first, width));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = c == '\t' || c == '\n' ? ' ' : '?';
  return {ErrorKind::usage,
          fmt::format("detector expression: {}\n  {}\n  {}^", message, shown, std::string(place - first, ' '))};
}

DetectorExpression DetectorExpression::parse(std::string_view text) {
  auto tree = std::make_unique<Tree>();
  tree->text = text;
  Parser(*tree).parse();
  return DetectorExpression(std::move(tree));
}

DetectorExpression::DetectorExpression(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
DetectorExpression::DetectorExpression(DetectorExpression&&) noexcept = default;
DetectorExpression& DetectorExpression::operator=(DetectorExpression&&) noexcept = default;
DetectorExpression::~DetectorExpression() = default;

std::string DetectorSet::label(Index member) const {
  const std::string ring = fmt::format("ring {}", member / sectors);
  if (sectors == 1) return ring;
  const std::string sector = fmt::format("sector {}", member % sectors);
  return rings == 1 ? sector : fmt::format("{}, {}", ring, sector);
}

DetectorSet expand_detector(std::string_view text) {
  DetectorExpression::Tree tree;
  tree.text = text;
  tree.allows_family = true;
  Parser(tree).parse();
  DetectorSet set;
  set.text = text;
  const auto& [shape, numbers, place, end] = tree.family;
  if (shape == nullptr) {
    set.members = {set.text};
    return set;
  }
  set.several = true;
  set.rings = static_cast<Index>(numbers[4].value);
  if (numbers.size() > 5) set.sectors = static_cast<Index>(numbers[5].value);
  if (numbers.size() > 6)
    set.first_angle = numbers[6].value * (numbers[6].unit == Unit::degree ? std::numbers::pi / 180 : 1);
  const Number &inner = numbers[2], &outer = numbers[3];
  set.in_rho = outer.unit == Unit::rho;
  for (Index ring = 0; ring <= set.rings; ++ring) {
    const double part = static_cast<double>(ring) / static_cast<double>(set.rings);
    set.radii.push_back(ring == set.rings ? outer.value : inner.value + (outer.value - inner.value) * part);
  }
  const auto written = [&](const Number& number) { return tree.text.substr(number.place, number.end - number.place); };
  // Both neighbours have the same number for the edge between them, to the last bit.
  const auto radius = [&](Index edge) {
    return fmt::format("{}{}", set.radii[static_cast<std::size_t>(edge)], set.in_rho ? "rho" : "");
  };
  const std::string angle = numbers.size() > 6 ? "," + written(numbers[6]) : "";
  for (Index ring = 0; ring < set.rings; ++ring)
    for (Index sector = 0; sector < set.sectors; ++sector) {
      const std::string head =
          fmt::format("({},{},{},{}", written(numbers[0]), written(numbers[1]), radius(ring), radius(ring + 1));
      const std::string member = set.sectors == 1 ? fmt::format("annulus{})", head)
                                                  : fmt::format("segment{},{},{}{})", head, sector, set.sectors, angle);
      set.members.push_back(tree.text.substr(0, place) + member + tree.text.substr(end));
    }
  return set;
}

const std::string& DetectorExpression::text() const { return tree_->text; }
bool DetectorExpression::needs_disk() const { return tree_->needs_disk; }

Mask detector_mask(std::string_view expression, const DetectorGeometry& geometry, const MembershipRules& rules) {
  return DetectorExpression::parse(expression).mask(geometry, rules);
}

}  // namespace sonde::stem
