// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/reference.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/help.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {
namespace {

struct About {
  std::string_view table, text;
};

constexpr std::array<About, 15> tables{{
    {"data", "Where the patterns are, and which of them count."},
    {"geometry", "What turns pixels into lengths, and how a raster lies on the specimen."},
    {"probe", "Where the first probe comes from."},
    {"object", "What is looked for, and where it starts."},
    {"low_resolution",
     "How the middle of the patterns is reconstructed before the run, where object.init asks for it."},
    {"direct", "How one-shot reconstructions are made: by `sonde ptycho direct`, or where object.init asks for one."},
    {"engine", "What works on the estimate, and for how long. One after the other in the order of the file."},
    {"positions", "What a list of positions means, and whether positions are corrected."},
    {"opr", "Whether the probe varies along the scan (orthogonal probe relaxation)."},
    {"constraint",
     "What is known beside the patterns. They act in the order of this page, whatever the order of the "
     "file."},
    {"stop", "When a run is over before its last iteration."},
    {"compute", "How numbers are held, and where random numbers begin."},
    {"multi_start", "Several first objects, of which the one that does best goes on."},
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

}  // namespace sonde::ptycho
