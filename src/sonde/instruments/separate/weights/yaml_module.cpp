// SPDX-License-Identifier: Apache-2.0
// sonde_yaml.so: the one object that is linked to yaml-cpp. Its events are used, not its tree: that keeps both values
// of a key that is given twice, and forgets lines and tags.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "sonde/engine/base/module.h"
#include "sonde/instruments/separate/weights/yaml_functions.h"

namespace {

using sonde::separate::YamlEvent;
using Kind = YamlEvent::Kind;

class Handler final : public YAML::EventHandler {
 public:
  Handler(void* context, void (*take)(void*, const YamlEvent&)) : context_(context), take_(take) {}

  void OnDocumentStart(const YAML::Mark& mark) override { give(Kind::document, mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { give(Kind::null, mark, {}, {}, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { give(Kind::alias, mark, {}, {}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    give(Kind::scalar, mark, tag, value, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    give(Kind::list, mark, tag, {}, anchor);
  }
  void OnSequenceEnd() override { give(Kind::end, YAML::Mark::null_mark()); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    give(Kind::map, mark, tag, {}, anchor);
  }
  void OnMapEnd() override { give(Kind::end, YAML::Mark::null_mark()); }

 private:
  void give(Kind kind, const YAML::Mark& mark, std::string_view tag = {}, std::string_view text = {},
            YAML::anchor_t anchor = 0) {
    take_(context_, {kind, mark.line + 1, tag, text, anchor != 0});
  }

  void* context_;
  void (*take_)(void*, const YamlEvent&);
};

std::string parse(std::string_view text, void* context, void (*take)(void*, const YamlEvent&)) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Handler handler(context, take);
    while (parser.HandleNextDocument(handler)) {
    }
    return {};
  } catch (const YAML::Exception& error) {
    return "line " + std::to_string(error.mark.line + 1) + ": " + error.msg;
  }
}

constexpr sonde::separate::YamlFunctions functions = {.parse = parse};

}  // namespace

SONDE_MODULE(functions);
