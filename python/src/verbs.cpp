// SPDX-License-Identifier: Apache-2.0
// Any verb of any instrument, started as the program starts it; python/sonde/verbs.py gives it its names.
#include "verbs.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apart.h"
#include "convert.h"
#include "sonde/app/join/join.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/panel/stored_result.h"
#include "sonde/engine/run/input_arrays.h"
#include "sonde/engine/run/instrument.h"
#include "sonde/engine/run/start.h"
#include "sonde/engine/run/write_contents.h"
#include "viewer.h"
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

std::vector<Tables::Name> tables_of(const Verb& verb) {
  return verb.tables != nullptr ? verb.tables() : std::vector<Tables::Name>{};
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
    py::dict tables;
    for (const Tables::Name& table : tables_of(verb)) tables[table.name.c_str()] = table.list;
    entry["tables"] = std::move(tables);
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

/// What the caller gives beside settings.
struct Given {
  InputArrays arrays{};
  py::list held{};  ///< the arrays as Python has them
  Value tables = Value::object();
};

/// The name of an array that stands for a path.
Value name_of(const py::array& array, const std::string& what, Given& given) {
  given.held.append(array);
  return Value(given.arrays.add(borrow(array, what)));
}

/// The text of a path, or the name of an array that stands for it.
Value input_of(const Field& field, const py::object& object, const std::string& where, Given& given) {
  if (!py::isinstance<py::array>(object)) return from_python(object, field.key);
  if (!field.info.array)
    throw Error(ErrorKind::usage, fmt::format("{}: {} is an array, expected the path of a file", where, field.key));
  return name_of(py::reinterpret_borrow<py::array>(object), field.key, given);
}

/// One of the inputs that stand one after another.
Value one_input_of(const Field& field, const py::object& object, const std::string& verb, Given& given) {
  if (field.type == FieldType::list && (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object))) {
    const std::size_t space = verb.find(' ');
    throw Error(ErrorKind::usage, fmt::format("{}: {} is a list, expected one input after another", verb, field.key))
        .hint(fmt::format("write an asterisk before the list: sonde.{}.{}(*files)", verb.substr(0, space),
                          verb.substr(space + 1)));
  }
  return input_of(field, object, verb, given);
}

/// A dict, or a list of dicts: a table of a run file, or several of one name.
bool is_table(const py::handle& object) {
  if (py::isinstance<py::dict>(object)) return true;
  if (!py::isinstance<py::list>(object) && !py::isinstance<py::tuple>(object)) return false;
  const auto items = py::reinterpret_borrow<py::sequence>(object);
  return items.size() > 0 &&
         std::all_of(items.begin(), items.end(), [](const py::handle& each) { return py::isinstance<py::dict>(each); });
}

/// A table with arrays where it names files of them.
Value table_of(const py::handle& object, const Tables::Name& table, Given& given) {
  if (table.list || !py::isinstance<py::dict>(object)) return from_python(object, table.name);
  Value made = Value::object();
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object)) {
    const auto word = py::cast<std::string>(py::str(key));
    const bool may = std::find(table.arrays.begin(), table.arrays.end(), word) != table.arrays.end();
    made[word] = may && py::isinstance<py::array>(value)
                     ? name_of(py::reinterpret_borrow<py::array>(value), table.name + "." + word, given)
                     : from_python(value, word);
  }
  return made;
}

/// Inputs go to the positional arguments in order, a list takes all that are left; keywords to the rest. In the order
/// of the program: a file of settings first, then what the caller gives.
Given give(Prepared& prepared, const py::tuple& inputs, const py::dict& keywords) {
  Fields& fields = prepared.fields;
  const std::string where = prepared.verb->name;
  const std::vector<Tables::Name> tables = tables_of(*prepared.verb);
  Given beside;
  Value given = Value::object();
  for (const auto& [key, value] : keywords) {
    const auto word = py::cast<std::string>(key);
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const auto& each) { return each.name == word; });
    if (is_table(value) && table != tables.end()) {
      beside.tables[word] = table_of(value, *table, beside);
      continue;
    }
    const Field* field = fields.find(word);
    if (field != nullptr && of_the_program(*field))
      throw Error(ErrorKind::usage, fmt::format("{}: {} is a setting of the program only", where, word));
    if (value.is_none()) continue;
    const auto object = py::reinterpret_borrow<py::object>(value);
    given[word] =
        field != nullptr && field->positional ? input_of(*field, object, where, beside) : from_python(object, word);
  }
  std::size_t at = 0;
  for (const Field& field : fields.all()) {
    if (!field.positional || given.find(field.key) != nullptr) continue;
    if (field.type == FieldType::list) {
      while (at < inputs.size()) given[field.key].push_back(one_input_of(field, inputs[at++], where, beside));
    } else if (at < inputs.size()) {
      given[field.key] = one_input_of(field, inputs[at++], where, beside);
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
  return beside;
}

/// The arrays of a result with all that a file of them says: what they are as a file can be written later.
class Kept {
 public:
  Kept(Contents contents, std::shared_ptr<RunFiles> files)
      : contents_(std::make_shared<const Contents>(std::move(contents))), files_(std::move(files)) {}

  /// [(name, values, axes, unit)]: values share memory with this. Texts are arrays without dimensions, as in NPZ.
  [[nodiscard]] py::list variables() const {
    py::list all;
    for (const Contents::Variable& variable : contents_->variables()) {
      py::object values;
      if (variable.text) {
        values = py::module_::import("numpy").attr("asarray")(*variable.text);
      } else {
        // Owner of the elements is the contents as a whole.
        values = to_numpy(alias(std::shared_ptr<const Array>(contents_, &variable.values)));
      }
      all.append(py::make_tuple(variable.name, values, variable.dimensions, variable.unit()));
    }
    return all;
  }
  /// Shows them as `sonde view` shows their file.
  [[nodiscard]] std::unique_ptr<Viewer> view(const std::string& title, const py::dict& keywords) const {
    const auto options = options_of<serve::ServeOptions>(keywords, "view()");
    std::optional<panel::StoredResult> result = panel::StoredResult::of(contents_, title);
    if (!result) throw Error(ErrorKind::bad_input, title + " gives no arrays to look at");
    return std::make_unique<Viewer>(join::page_of_result(*std::move(result)), options, nullptr);
  }
  void save(const std::string& path) const {
    Work(py::none(), files_).run([&] {
      require_contents_path(path);
      write_contents(path, *contents_);
      return 0;
    });
  }

 private:
  std::shared_ptr<const Contents> contents_;
  std::shared_ptr<RunFiles> files_;
};

/// {"report", "said", "text", "kept"}.
class Taken {
 public:
  Taken(Prepared& prepared, const Given& given, std::shared_ptr<RunFiles> files)
      : prepared_(prepared), files_(std::move(files)) {
    door_.surroundings = join::surroundings();
    door_.surroundings.arrays = &given.arrays;
    door_.surroundings.tables = given.tables;
    door_.surroundings.say = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_.push_back(spelled(text, Spelling::python));
    };
    door_.surroundings.announce = [this](const std::string& text) {
      door_.surroundings.say(text);
      run_for_caller([&] {
        py::module_::import("builtins")
            .attr("print")(spelled(text, Spelling::python), py::arg("file") = py::module_::import("sys").attr("stderr"),
                           py::arg("flush") = true);
      });
    };
    door_.surroundings.print = [this](const std::string& text) { text_ += spelled(text, Spelling::python); };
    door_.surroundings.take = [this](Contents contents) { contents_.append(std::move(contents)); };
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
    result["kept"] = Kept(std::move(contents_), files_);
    return result;
  }
  [[nodiscard]] bool anything() const { return !report_.is_null() || !contents_.variables().empty(); }

 private:
  Prepared& prepared_;
  std::shared_ptr<RunFiles> files_;
  Door door_;
  std::mutex mutex_;
  std::vector<std::string> said_;
  std::string text_;
  Contents contents_;
  Value report_;
};

/// `left` gets the result of a run that fails and leaves a state worth keeping.
py::dict run_verb(const std::string& name, const py::tuple& inputs, const py::dict& keywords,
                  const py::object& progress, py::list left) {
  Prepared prepared(verb_of(name));
  const Given given = give(prepared, inputs, keywords);
  Work work(progress);
  for (const py::handle& array : given.held) note_mapped_file(py::reinterpret_borrow<py::array>(array), *work.files());
  Taken taken(prepared, given, work.files());
  try {
    work.run([&] { return taken.run(), 0; });
  } catch (...) {
    if (taken.anything()) left.append(taken.result());
    throw;
  }
  return taken.result();
}

}  // namespace

void add_verbs(py::module_& module) {
  module.def("verbs", described_verbs);
  module.def("verb_fields", fields_of_verb);
  module.def("run_verb", run_verb);
  py::class_<Kept>(module, "KeptResult")
      .def("variables", &Kept::variables)
      .def("save", &Kept::save)
      .def("view", &Kept::view);
}

}  // namespace sonde::python
