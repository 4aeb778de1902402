// SPDX-License-Identifier: Apache-2.0
// Any verb of any instrument, started as the program starts it; python/sonde/verbs.py gives it its names.
#include "verbs.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert.h"
#include "sonde/app/join/join.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/run/instrument.h"
#include "sonde/engine/run/start.h"
#include "work.h"

namespace sonde::python {
namespace {

/// What only a terminal has.
bool of_the_program(const Field& field) { return field.key == "json" || field.key == "quiet"; }

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = [] {
    std::vector<Verb> made;
    for (const Instrument* instrument : instruments())
      for (Verb& verb : instrument->verbs()) made.push_back(std::move(verb));
    return made;
  }();
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Verb& verb : verbs()) all.push_back(verb.name);
  return all;
}

/// Whose tables a file of settings may have.
std::vector<std::string> names_of_tables() {
  std::vector<std::string> all = names();
  all.insert(all.end(), verbs_of_the_program.begin(), verbs_of_the_program.end());
  return all;
}

const Verb& verb_of(const std::string& name) {
  for (const Verb& verb : verbs())
    if (verb.name == name) return verb;
  throw Error(ErrorKind::usage, fmt::format("unknown verb \"{}\"{}", name, did_you_mean(name, names())))
      .hint("sonde.verbs() lists them");
}

/// [{"name", "summary", "details"}], in the order of the program's overview.
py::list described_verbs() {
  py::list all;
  for (const Verb& verb : verbs()) {
    py::dict entry;
    entry["name"] = verb.name;
    entry["summary"] = verb.summary;
    entry["details"] = spelled(verb.details, Spelling::python);
    all.append(std::move(entry));
  }
  return all;
}

py::list fields_of_verb(const std::string& name) {
  const Prepared prepared(verb_of(name));
  py::list fields;
  py::size_t at = 0;
  const py::list all = describe_fields(prepared.fields);
  for (const Field& field : prepared.fields.all()) {
    const py::object entry = all[at++];
    if (!of_the_program(field)) fields.append(entry);
  }
  return fields;
}

/// Inputs go to the positional arguments in order, a list takes all that are left; keywords to the rest. In the order
/// of the program: a file of settings first, then what the caller gives.
void give(Prepared& prepared, const py::tuple& inputs, const py::dict& keywords) {
  Fields& fields = prepared.fields;
  const std::string where = prepared.verb->name;
  Value given = Value::object();
  for (const auto& [key, value] : keywords) {
    const auto word = py::cast<std::string>(key);
    const Field* field = fields.find(word);
    if (field != nullptr && of_the_program(*field))
      throw Error(ErrorKind::usage, fmt::format("{}: {} is a setting of the program only", where, word));
    if (!value.is_none()) given[word] = from_python(value, word);
  }
  std::size_t at = 0;
  for (const Field& field : fields.all()) {
    if (!field.positional || given.find(field.key) != nullptr) continue;
    if (field.type == FieldType::list) {
      while (at < inputs.size()) given[field.key].push_back(from_python(inputs[at++], field.key));
    } else if (at < inputs.size()) {
      given[field.key] = from_python(inputs[at++], field.key);
    }
    if (!field.info.optional && given.find(field.key) == nullptr)
      throw Error(ErrorKind::usage, fmt::format("{}: {} is missing", where, field.key));
  }
  if (at < inputs.size())
    throw Error(ErrorKind::usage, fmt::format("{}: {} inputs are too many", where, inputs.size()));
  if (const Value* config = given.find("config")) fields.assign("config", *config, where);
  const Field* settings = fields.find(settings_key);
  const Value* file = settings != nullptr && settings->positional ? given.find(settings_key) : nullptr;
  read_settings(prepared, file != nullptr ? std::optional(file->as_text()) : std::nullopt, names_of_tables());
  fields.assign_all(given, where);
}

/// {"facts", "report", "files", "said", "text", "variables"}.
class Taken {
 public:
  explicit Taken(Prepared& prepared) : prepared_(prepared) {
    door_.surroundings = join::surroundings();
    door_.surroundings.say = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_.push_back(spelled(text, Spelling::python));
    };
    door_.surroundings.print = [this](const std::string& text) { text_ += spelled(text, Spelling::python); };
    door_.surroundings.take = [this](Variable variable) { variables_.push_back(std::move(variable)); };
    const auto take = [this](const Report& report) { report_ = report.to_value(); };
    door_.take_plan = take;
    door_.take_results = take;
    door_.owns_process = false;
  }
  void run() { start(prepared_, door_); }
  [[nodiscard]] py::dict result() {
    py::dict result;
    result["report"] = to_python(report_);
    result["said"] = said_;
    result["text"] = text_;
    py::list variables;
    for (Variable& variable : variables_)
      variables.append(
          py::make_tuple(variable.name, to_numpy(std::move(variable.values)), variable.axes, variable.unit));
    result["variables"] = std::move(variables);
    return result;
  }

 private:
  Prepared& prepared_;
  Door door_;
  std::mutex mutex_;
  std::vector<std::string> said_;
  std::string text_;
  std::vector<Variable> variables_;
  Value report_;
};

py::dict run_verb(const std::string& name, const py::tuple& inputs, const py::dict& keywords,
                  const py::object& progress) {
  Prepared prepared(verb_of(name));
  give(prepared, inputs, keywords);
  Taken taken(prepared);
  Work(progress).run([&] { return taken.run(), 0; });
  return taken.result();
}

}  // namespace

void add_verbs(py::module_& module) {
  module.def("verbs", described_verbs);
  module.def("verb_fields", fields_of_verb);
  module.def("run_verb", run_verb);
}

}  // namespace sonde::python
