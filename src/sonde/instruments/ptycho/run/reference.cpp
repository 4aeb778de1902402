// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/reference.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/help.h"
#include "sonde/engine/options/toml.h"

namespace sonde::ptycho {
namespace {

struct About {
  std::string_view table, text;
};

constexpr std::array<About, 15> tables{{
    {"data", "Where the patterns are, and which of them count."},
    {"geometry", "What turns pixels into lengths, and how a raster is placed on the specimen."},
    {"probe", "Where the first probe comes from."},
    {"object", "What is looked for, and where it starts."},
    {"low_resolution",
     "How the middle of the patterns is reconstructed before the run, where object.init asks for it."},
    {"direct", "How one-shot reconstructions are made: by `sonde ptycho direct`, or where object.init asks for one."},
    {"engine", "What works on the estimate, and for how long. One after the other in the order of the file."},
    {"positions", "What a list of positions means, and whether positions are corrected."},
    {"opr", "Whether the probe varies along the scan (orthogonal probe relaxation)."},
    {"constraint",
     "What is known beside the patterns. Whatever their order in the file, they act in that of the table of "
     "constraints "
     "in docs/ptycho-reference.md: on the object first, then on the probe."},
    {"stop", "When a run is over before its last iteration."},
    {"compute", "How numbers are held, and where random numbers begin."},
    {"multi_start", "Several first objects, of which the best one continues."},
    {"quality", "How the result is judged beside its own numbers."},
    {"output", "What is written. Relative paths of a run file start at its folder."},
}};

std::string_view about(std::string_view table) {
  for (const About& each : tables)
    if (each.table == table) return each.text;
  throw Error(ErrorKind::internal, fmt::format("nothing is said about [{}]", table));
}

/// "Frame by frame, with momentum."
std::string summary_of(std::string_view table, std::string_view kind) {
  std::string text(table == "engine" ? engine_kind(kind).summary : constraint_kind(kind).summary);
  if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

/// "key = value" as in a run file; nothing after the sign for unset ones.
std::string shown(const Field& field) {
  Value one = Value::object();
  one["t"][field.key] = field.value();
  const std::string text = to_toml(one);
  const std::size_t begin = text.find('\n') + 1;
  return field.value().is_null() ? field.key + " = " : text.substr(begin, text.size() - begin - 1);
}

/// One line: setting and meaning, behind # unless somebody set it.
std::string commented(const Field& field, bool missing) {
  const bool unset = field.origin == Origin::built_in;
  std::string note = (missing ? "FILL IN: " : "") + field.info.help;
  if (!field.info.unit.empty()) note += ", " + field.info.unit;
  if (!field.choices.empty()) note += fmt::format(": {}", fmt::join(field.choices, " | "));
  return fmt::format("{:<32} # {}\n", (unset ? "# " : "") + shown(field), note);
}

/// A chosen engine or constraint, or one that could be.
std::string commented_item(std::string_view table, std::string_view kind, const Fields& fields, bool chosen) {
  const char* mark = chosen ? "" : "# ";
  std::string text = fmt::format("\n{}[[{}]]\n{:<32} # {}\n", mark, table, fmt::format("{}name = \"{}\"", mark, kind),
                                 summary_of(table, kind));
  for (const Field& field : fields.all()) text += commented(field, false);
  return text;
}

}  // namespace

std::string run_file_reference() {
  std::string text =
      "# The run file of ptychography\n\n"
      "Written by `sonde help --markdown` from the descriptions that read it. A run file is TOML; `sonde ptycho init` "
      "writes one with every key. `--set TABLE.KEY=VALUE` changes one of them, `--set engine.0.KEY=VALUE` one of the "
      "first `[[engine]]`. In Python the same tables are dictionaries.\n";
  RunFile run;
  for (const std::string& name : run.tables().names()) {
    const Tables::Table& table = *run.tables().find(name);
    text += fmt::format("\n## {0}{1}{2}\n\n{3}\n", table.list ? "[[" : "[", name, table.list ? "]]" : "]", about(name));
    if (!table.list) {
      text += "\n" + keys_markdown(table.items.front().fields);
      continue;
    }
    for (const std::string& kind : table.kinds) {
      const auto item = static_cast<std::size_t>(run.tables().append(name, kind, "name"));
      text += fmt::format("\n### name = \"{}\"\n\n{}\n\n", kind, summary_of(name, kind));
      text += keys_markdown(table.items[item].fields);
    }
  }
  return text;
}

std::string commented_run_file(const RunFile& known, const std::set<std::string>& missing) {
  std::string text =
      "# A reconstruction by ptychography: `sonde ptycho run THIS_FILE --dry-run` says what it needs; the same\n"
      "# without the flag runs it. Lines behind # are the defaults: take the # away to change one.\n";
  if (!missing.empty()) text += "# Lines with FILL IN are needed, and the measurement does not say them.\n";
  for (const Tables::Table& table : known.tables().all()) {
    text += fmt::format("\n# ---- {}\n", about(table.name));
    if (!table.list) {
      text += fmt::format("[{}]\n", table.name);
      for (const Field& field : table.items.front().fields.all())
        text += commented(field, missing.contains(table.name + "." + field.key));
      continue;
    }
    std::set<std::string> chosen;
    for (const Tables::Item& item : table.items) {
      chosen.insert(item.kind);
      text += commented_item(table.name, item.kind, item.fields, true);
    }
    // Constraints whole, since they are added to others; engines are replaced, so that their names are enough.
    if (table.name == "engine") {
      text += "\n# Engines there are; `sonde ptycho init --engine NAME` writes the settings of another one:\n";
      for (const std::string& kind : table.kinds)
        text += fmt::format("#   {:<12} {}\n", kind, summary_of(table.name, kind));
      continue;
    }
    RunFile all;
    for (const std::string& kind : table.kinds) {
      const auto item = static_cast<std::size_t>(all.tables().append(table.name, kind, "name"));
      if (!chosen.contains(kind))
        text += commented_item(table.name, kind, all.tables().find(table.name)->items[item].fields, false);
    }
  }
  return text;
}

}  // namespace sonde::ptycho
