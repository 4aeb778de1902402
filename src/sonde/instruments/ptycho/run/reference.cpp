// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/reference.h"

#include "sonde/engine/options/tables_page.h"

namespace sonde::ptycho {
namespace {

/// "Frame by frame, with momentum."
std::string summary_of(const std::string& table, const std::string& kind) {
  std::string text(table == "engine" ? engine_kind(kind).summary : constraint_kind(kind).summary);
  if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

const TablesGuide& guide() {
  static const TablesGuide texts{
      .about =
          {{"data", "Where the patterns are, and which of them count."},
           {"geometry", "What turns pixels into lengths, and how a raster is placed on the specimen."},
           {"probe", "Where the first probe comes from."},
           {"object", "What is looked for, and where it starts."},
           {"low_resolution",
            "How the middle of the patterns is reconstructed before the run, where object.init asks for it."},
           {"direct",
            "How one-shot reconstructions are made: by `sonde ptycho direct`, or where object.init asks for one."},
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
           {"output", "What is written. Relative paths of a run file start at its folder."}},
      .about_kind = summary_of,
      // Constraints are added to others, engines are replaced.
      .named_only =
          {{"engine",
            "\n# Engines there are; `sonde ptycho init --engine NAME` writes the settings of another one:\n"}},
      .comment_column = 32};
  return texts;
}

}  // namespace

std::string run_file_reference() {
  const std::string text =
      "# The run file of ptychography\n\n"
      "Written by `sonde help --markdown` from the descriptions that read it. A run file is TOML; `sonde ptycho init` "
      "writes one with every key. `--set TABLE.KEY=VALUE` changes one of them, `--set engine.0.KEY=VALUE` one of the "
      "first `[[engine]]`. In Python the same tables are dictionaries.\n";
  RunFile unset;
  return text + tables_markdown(unset.tables(), guide());
}

std::string commented_run_file(const RunFile& known, const std::set<std::string>& missing) {
  std::string text =
      "# A reconstruction by ptychography: `sonde ptycho run THIS_FILE --dry-run` says what it needs; the same\n"
      "# without the flag runs it. Lines behind # are the defaults: take the # away to change one.\n";
  if (!missing.empty()) text += "# Lines with FILL IN are needed, and the measurement does not say them.\n";
  RunFile unset;
  return text + commented_tables(known.tables(), unset.tables(), guide(), missing);
}

}  // namespace sonde::ptycho
