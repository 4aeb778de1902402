// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/verbs/direct_start.h"
#include "sonde/instruments/ptycho/verbs/reconstruct.h"
#include "sonde/instruments/ptycho/verbs/resolve_settings.h"
#include "sonde/instruments/ptycho/verbs/verbs.h"

namespace sonde::ptycho {
namespace {

namespace fs = std::filesystem;

struct DirectOptions {
  std::string input;
  DirectMethod method = DirectMethod::ssb;
  std::vector<std::string> output = {"direct.h5", "direct.png"};
  std::vector<std::string> set;
  RunFile described;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "patterns, or a run file (.toml)", .array = true});
    fields.choice("method", method, {{"ssb", DirectMethod::ssb}, {"parallax", DirectMethod::parallax}},
                  {.help = "single side band, or tilt-corrected bright field"});
    fields.add(
        "output", output,
        {.help = "FILE.h5 (a result as `run` writes it), .npy (the complex wave), .tif or .png (the phase); may be "
                 "given several times",
         .metavar = "FILE",
         .letter = 'o'});
    fields.add(
        "set", set,
        {.help = "one setting of a run file, for instance geometry.semiangle_mrad=20", .metavar = "TABLE.KEY=VALUE"});
    described.tables().lend(
        fields,
        {{"direct.fit"}, {"direct.transfer"}, {"direct.upsample"}, {"data.skip_empty"}, {"data.clip_negative"}});
  }
};

/// None for a caller who takes the arrays and names no file.
std::vector<std::string> outputs_of(const DirectOptions& options, const Run& run) {
  return run.gives_arrays() && !run.given("output") ? std::vector<std::string>{} : options.output;
}

/// What is wrong with a file is better known before the work than after it.
void require_formats_and_places(const DirectOptions& options, const Run& run) {
  if (!run.given("output")) note_made_up_names();
  for (const std::string& file : outputs_of(options, run)) {
    (void)require_ending(file, "reconstructions", {".h5", ".npy", ".tif", ".png"});
    require_place(file);
  }
}

/// The phase of an image with the pixel size of its grid.
void write_phase(const std::string& file, const DirectImage& image) {
  const Array phase = image.phase();
  const Index rows = phase.shape()[0], cols = phase.shape()[1];
  Array picture(Device::cpu(), phase.shape(), DType::f32);
  for (Index i = 0; i < phase.count(); ++i)
    picture.view<float, 2>().data[i] = static_cast<float>(phase.view<double, 2>().data[i]);
  const ScanLattice& scan = image.lattice;
  Sampling grid;
  grid.rows = rows;
  grid.cols = cols;
  grid.wavelength = 1;  // the lengths below are calibrated; no other use is made of it
  grid.dk_row = 1 / (static_cast<double>(scan.rows) * std::hypot(scan.down.row, scan.down.col));
  grid.dk_col = 1 / (static_cast<double>(scan.cols) * std::hypot(scan.across.row, scan.across.col));
  write_picture(file, picture, grid, "rad", "phase of a direct reconstruction, rad");
}

void run_direct_command(const DirectOptions& options, Run& run) {
  (void)run.device_for("direct reconstructions are made on the CPU");
  RunFile run_file;
  resolve_settings(options.input, options.set, BareInput::any, run, run_file);
  require_formats_and_places(options, run);
  const std::optional<DirectOutcome> outcome = reconstruct_directly(run_file, options.method, run);
  if (!outcome) {
    run.results()["settings"] = run_file.tables().echo();
    return;
  }
  auto phase = run.report().phase("write");
  if (run.gives_arrays()) run.give(contents_of(outcome->result));
  for (const std::string& file : outputs_of(options, run)) {
    const std::string ending = output_ending(file);
    if (ending == ".h5")
      write_result(file, outcome->result);
    else if (ending == ".npy")
      write_npy(file, outcome->image.wave);
    else
      write_phase(file, outcome->image);
    run.results()["files"].push_back(file);
    run.say("wrote     " + file);
  }
}

}  // namespace

Verb direct_verb() {
  return {
      .name = "ptycho direct",
      .summary = "Image a weak phase object in one pass: single side band or parallax",
      .details =
          "Takes what `sonde ptycho run` takes, as long as the positions are a regular raster and energy, angles and "
          "the convergence semiangle are known. Defocus, astigmatism and the rotation of the scan are found from the "
          "images of the bright-field pixels first, unless " +
          setting("fit") +
          " says otherwise.\n\n"
          "Single side band (ssb) suits a probe near focus, parallax (tilt-corrected bright field) one far from it. "
          "Phases come out weakened by the method's transfer unless " +
          setting("transfer", "corrected") +
          " divides it out. The result "
          "(.h5) has the object on the pixels that a reconstruction uses, so that `run` can start from it.",
      .examples = {{"sonde ptycho direct scan.h5 --method ssb --config recon.toml -o phase.png",
                    "The phase, with a scale bar"},
                   {"sonde ptycho direct scan_master.h5 --method parallax --upsample 2 --set "
                    "geometry.semiangle_mrad=20 -o wave.npy -o phase.tif",
                    "From a 4D-STEM scan that contains the rest, on a finer grid"},
                   {"sonde ptycho run recon.toml --set object.init=parallax", "A reconstruction that starts from it"}},
      .own_config = true,
      .tables = [] { return RunFile().tables().outline(); },
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<DirectOptions, run_direct_command>};
}

}  // namespace sonde::ptycho
