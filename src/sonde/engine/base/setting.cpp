// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/setting.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace sonde {
namespace {

// A setting in a text: begin key [is value] end. Separators of ASCII that no text for people has.
constexpr char begin = '\x1d', is = '\x1e', end = '\x1f';

struct Part {
  std::string_view key;
  std::optional<std::string_view> value;
};

/// Writes `text` with what `write` makes of each setting.
template <class Write>
std::string written(std::string_view text, const Write& write) {
  std::string made;
  while (true) {
    const std::size_t at = text.find(begin);
    const std::size_t last = at == std::string_view::npos ? at : text.find(end, at);
    made += text.substr(0, at);
    if (last == std::string_view::npos) return made;
    const std::string_view inside = text.substr(at + 1, last - at - 1);
    const std::size_t middle = inside.find(is);
    Part part{inside.substr(0, middle), {}};
    if (middle != std::string_view::npos) part.value = inside.substr(middle + 1);
    made += write(part);
    text.remove_prefix(last + 1);
  }
}

bool is_number(std::string_view value) {
  const std::string text(value);
  char* stop = nullptr;
  std::strtod(text.c_str(), &stop);
  return !text.empty() && *stop == '\0';
}

bool is_switch(std::string_view value) { return value == "true" || value == "false"; }

std::string as_key(const Part& part) {
  std::string made(part.key);
  if (!part.value) return made;
  const bool plain = is_number(*part.value) || is_switch(*part.value);
  return made + " = " + (plain ? std::string(*part.value) : '"' + std::string(*part.value) + '"');
}

std::string as_flag(const Part& part) {
  if (part.key.find('.') != std::string_view::npos) return as_key(part);
  std::string name(part.key);
  std::replace(name.begin(), name.end(), '_', '-');
  if (!part.value) return "--" + name;
  if (is_switch(*part.value)) return (*part.value == "true" ? "--" : "--no-") + name;
  return "--" + name + " " + std::string(*part.value);
}

std::string in_python(const Part& part) {
  std::string made(part.key);
  if (!part.value || part.key.find('.') != std::string_view::npos) return as_key(part);
  if (is_switch(*part.value)) return made + (*part.value == "true" ? "=True" : "=False");
  return made + "=" + (is_number(*part.value) ? std::string(*part.value) : '"' + std::string(*part.value) + '"');
}

}  // namespace

std::string setting(std::string_view key) { return begin + std::string(key) + end; }

std::string setting(std::string_view key, std::string_view value) {
  return begin + std::string(key) + is + std::string(value) + end;
}

std::string setting(std::string_view key, const char* value) { return setting(key, std::string_view(value)); }

std::string setting(std::string_view key, bool on) { return setting(key, on ? "true" : "false"); }

std::string spelled(std::string_view text, Spelling spelling) {
  return written(text, [spelling](const Part& part) {
    switch (spelling) {
      case Spelling::flags:
        return as_flag(part);
      case Spelling::python:
        return in_python(part);
      case Spelling::keys:
        break;
    }
    return as_key(part);
  });
}

std::string with_renamed_settings(std::string_view text,
                                  const std::function<std::optional<std::string>(std::string_view key)>& renamed,
                                  std::string_view owner) {
  return written(text, [&](const Part& part) {
    const std::optional<std::string> key = renamed(part.key);
    if (!key) return as_key(part) + " of `" + std::string(owner) + "`";
    return part.value ? setting(*key, *part.value) : setting(*key);
  });
}

}  // namespace sonde
