// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/cif_text.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

struct CifToken {
  enum class Kind { tag, value, block, loop, end } kind = Kind::end;
  std::string text{};
};

class CifTokens {
 public:
  CifTokens(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  CifToken next() {
    skip();
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == ';' && (at_ == 0 || text_[at_ - 1] == '\n' || text_[at_ - 1] == '\r'))
      return {CifToken::Kind::value, lines_of_text()};
    if (c == '\'' || c == '"') return {CifToken::Kind::value, quoted(c)};
    return bare();
  }

  [[noreturn]] void refuse(const std::string& fact) const {
    throw Error(ErrorKind::bad_file, fmt::format("{}: line {}: {}", name_, line_, fact));
  }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#')
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      else if (!blank(text_[at_]))
        return;
      if (text_[at_] == '\n') ++line_;
    }
  }

  /// From a semicolon at the beginning of a line to the next one.
  std::string lines_of_text() {
    const std::size_t end = text_.find("\n;", at_);
    if (end == std::string_view::npos) refuse("the text that begins here with ; has no end");
    const std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    for (const char c : body) line_ += c == '\n' ? 1 : 0;
    ++line_;
    at_ = end + 2;
    return std::string(trim(body));
  }

  /// A quote ends a value only before a blank: 'O5'b' is O5'b.
  std::string quoted(char quote) {
    for (std::size_t end = at_ + 1; end < text_.size() && text_[end] != '\n'; ++end) {
      if (text_[end] != quote || (end + 1 < text_.size() && !blank(text_[end + 1]))) continue;
      const std::string value(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return value;
    }
    refuse("a quoted value has no end");
  }

  CifToken bare() {
    std::size_t end = at_;
    while (end < text_.size() && !blank(text_[end])) ++end;
    std::string word(text_.substr(at_, end - at_));
    at_ = end;
    const std::string lower = to_lower(word);
    if (word.front() == '_') return {CifToken::Kind::tag, lower};
    if (lower.starts_with("data_")) return {CifToken::Kind::block, word.substr(5)};
    if (lower == "loop_") return {CifToken::Kind::loop, {}};
    if (word == "." || word == "?") word.clear();
    return {CifToken::Kind::value, std::move(word)};
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  Index line_ = 1;
};

class CifReader {
 public:
  CifReader(std::string_view text, const std::string& name) : tokens_(text, name), token_(tokens_.next()) {}

  std::vector<CifBlock> blocks() {
    std::vector<CifBlock> made;
    while (token_.kind != CifToken::Kind::end) {
      if (token_.kind == CifToken::Kind::block) {
        made.push_back({.name = token_.text});
        take();
        continue;
      }
      if (made.empty()) tokens_.refuse("expected data_, which begins a block of a CIF file");
      if (token_.kind == CifToken::Kind::loop)
        read_loop(made.back());
      else
        read_item(made.back());
    }
    return made;
  }

 private:
  CifToken take() { return std::exchange(token_, tokens_.next()); }

  void read_item(CifBlock& block) {
    if (token_.kind != CifToken::Kind::tag)
      tokens_.refuse(fmt::format("\"{}\" is a value without a tag", token_.text.substr(0, 40)));
    const std::string tag = take().text;
    if (token_.kind != CifToken::Kind::value) tokens_.refuse(tag.substr(0, 80) + " has no value");
    block.values[tag] = {take().text};
  }

  void read_loop(CifBlock& block) {
    take();
    std::vector<std::vector<std::string>*> columns;
    while (token_.kind == CifToken::Kind::tag) {
      columns.push_back(&block.values[take().text]);
      columns.back()->clear();
    }
    if (columns.empty()) tokens_.refuse("loop_ without a tag");
    std::size_t count = 0;
    for (; token_.kind == CifToken::Kind::value; ++count) columns[count % columns.size()]->push_back(take().text);
    if (count % columns.size() != 0)
      tokens_.refuse(fmt::format("a loop of {} tags has {} values; expected a multiple", columns.size(), count));
  }

  CifTokens tokens_;
  CifToken token_;
};

}  // namespace

std::string CifBlock::first(const std::vector<std::string_view>& tags) const {
  for (const std::string_view tag : tags)
    if (const auto found = values.find(tag); found != values.end() && !found->second.empty())
      if (const std::string& value = found->second.front(); !value.empty()) return value;
  return {};
}

const std::vector<std::string>* CifBlock::column(const std::vector<std::string_view>& tags) const {
  for (const std::string_view tag : tags)
    if (const auto found = values.find(tag); found != values.end()) return &found->second;
  return nullptr;
}

std::vector<CifBlock> parse_cif(std::string_view text, const std::string& name) {
  return CifReader(text, name).blocks();
}

}  // namespace sonde::stem
