// SPDX-License-Identifier: Apache-2.0
// Text to tree. The tree becomes a mask in expression_mask.cpp.
#include "sonde/instruments/stem/image/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/image/expression_tree.h"
#include "sonde/instruments/stem/image/presets.h"

namespace sonde::stem {
namespace {

// Evaluation and destruction recurse into the tree: limits, so that no text exhausts the stack.
constexpr int deepest = 200;            // nested parentheses and negations
constexpr int most_parts = 1000;        // shapes and operators
constexpr double largest_number = 1e9;  // coordinates beyond make no sense and would lose whole pixels

struct ShapeName {
  std::string_view name;
  NodeKind kind;
  std::size_t least, most;  // arguments
  std::string_view form;
};
constexpr std::size_t any_number = 1u << 30;
constexpr ShapeName shape_names[] = {
    {"circle", NodeKind::circle, 3, 3, "circle(row,col,r)"},
    {"annulus", NodeKind::annulus, 4, 4, "annulus(row,col,r_in,r_out)"},
    {"segment", NodeKind::segment, 6, 7, "segment(row,col,r_in,r_out,k,n[,phi0])"},
    {"rect", NodeKind::rect, 4, 4, "rect(row0,col0,row1,col1)"},
    {"point", NodeKind::point, 2, 2, "point(row,col)"},
    {"polygon", NodeKind::polygon, 6, any_number, "polygon(row,col,row,col,row,col,...)"},
    {"runs", NodeKind::runs, 3, any_number, "runs(row,col0,col1,row,col0,col1,...)"},
};

std::vector<std::string> known_names() {
  std::vector<std::string> names = {"file", "all"};
  for (const ShapeName& shape : shape_names) names.emplace_back(shape.name);
  for (const DetectorPreset& preset : detector_presets) names.emplace_back(preset.name);
  return names;
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
        node->kind = NodeKind::preset;
        node->numbers = {{preset.r_in, Unit::rho, node->place}, {preset.r_out, Unit::rho, node->place}};
        tree_.needs_disk = true;
        return node;
      }
    if (name == "file") {
      node->kind = NodeKind::file;
      file_path(*node);
      return node;
    }
    for (const ShapeName& known : shape_names)
      if (known.name == name) {
        node->kind = known.kind;
        arguments(*node, known);
        return node;
      }
    const std::string hint = "known names are " + join_words(known_names());
    fail(fmt::format("unknown name \"{}\"{}", name, did_you_mean(name, known_names())), node->place, hint);
  }

  void arguments(Node& node, const ShapeName& known) {
    expect('(', fmt::format("( after {}, as in {}", known.name, known.form));
    if (peek() != ')') {
      do node.numbers.push_back(number());
      while (take(','));
    }
    expect(')', "a comma or )");
    const std::size_t count = node.numbers.size();
    if (count < known.least || count > known.most || (known.kind == NodeKind::polygon && count % 2 != 0) ||
        (known.kind == NodeKind::runs && count % 3 != 0))
      fail(fmt::format("{} takes other arguments than these {}: {}", known.name, count, known.form), node.place);
    check(node);
  }

  /// What can be seen without knowing the detector.
  void check(const Node& node) const {
    const bool centred = node.kind == NodeKind::circle || node.kind == NodeKind::annulus ||
                         node.kind == NodeKind::segment || node.kind == NodeKind::point;
    for (std::size_t i = 0; i < node.numbers.size(); ++i) {
      const Number& each = node.numbers[i];
      const bool is_angle = node.kind == NodeKind::segment && i == 6;
      if (each.unit == Unit::automatic && !(centred && i < 2))
        fail("auto means only the row or the column of a centre", each.place);
      if (each.unit == Unit::degree && !is_angle) fail("only phi0 of segment is an angle", each.place);
      if (each.unit == Unit::rho && (is_angle || !centred || i < 2 || i > 3))
        fail("only radii are given in rho", each.place);
      if (centred && (i == 2 || i == 3) && each.value < 0) fail("a radius is not negative", each.place);
    }
    const auto value = [&](std::size_t i) { return node.numbers[i].value; };
    if ((node.kind == NodeKind::annulus || node.kind == NodeKind::segment) &&
        node.numbers[2].unit == node.numbers[3].unit && value(2) > value(3))
      fail("the inner radius is larger than the outer one", node.numbers[2].place);
    if (node.kind == NodeKind::rect && (value(0) >= value(2) || value(1) >= value(3)))
      fail("the rectangle holds no pixel", node.place,
           "rect takes two corners, rect(row0,col0,row1,col1); row1 and col1 are the first ones outside");
    if (node.kind == NodeKind::runs)
      for (std::size_t i = 0; i < node.numbers.size(); i += 3) {
        for (const std::size_t k : {i, i + 1, i + 2})
          if (value(k) != std::floor(value(k))) fail("runs are of whole pixels", node.numbers[k].place);
        if (value(i + 1) >= value(i + 2)) fail("the run holds no pixel", node.numbers[i].place);
      }
    if (node.kind == NodeKind::segment) {
      if (value(5) < 1 || value(5) != std::floor(value(5)))
        fail("n is a whole number of segments, at least 1", node.numbers[5].place);
      if (value(4) < 0 || value(4) >= value(5) || value(4) != std::floor(value(4)))
        fail("k is a whole number from 0 to n - 1", node.numbers[4].place);
    }
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

const std::string& DetectorExpression::text() const { return tree_->text; }
bool DetectorExpression::needs_disk() const { return tree_->needs_disk; }

Mask detector_mask(std::string_view expression, const DetectorGeometry& geometry, const MembershipRules& rules) {
  return DetectorExpression::parse(expression).mask(geometry, rules);
}

}  // namespace sonde::stem
