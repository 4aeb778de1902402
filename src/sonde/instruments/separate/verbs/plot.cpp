// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/separate/results/quality_chart.h"
#include "sonde/instruments/separate/results/spectrogram.h"
#include "sonde/instruments/separate/verbs/verbs.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::vector<std::string> inputs;
  std::string output;
  SpectrogramStyle style;
  void describe(Fields& fields) {
    fields.positional("inputs", inputs,
                      {.help = "audio files: a mixture, and its stems; or one separation.json", .metavar = "FILE"});
    fields.add("output", output,
               {.help = "the picture; unset: FILE.png and FILE.pdf beside the first input",
                .metavar = "FILE.png|.pdf|.svg",
                .letter = 'o'});
    fields.add("range_db", style.range_db,
               {.help = "what is shown below the loudest level", .unit = "dB", .min = 1, .max = 200});
  }
};

void run_plot(const PlotOptions& options, Run& run) {
  if (options.inputs.empty()) throw Error(ErrorKind::usage, "inputs are missing").hint("name audio files");
  const std::string place = chart_place(options.output, options.inputs.front(), run);
  if (options.inputs.size() == 1 && to_lower(fs::path(options.inputs.front()).extension().string()) == ".json") {
    return draw(quality_chart(read_json(options.inputs.front()), options.inputs.front()), place, run, text_column);
  }
  // Sums and levels of each file; what is read and transformed at a time takes less than a megabyte.
  const auto places = static_cast<std::size_t>(options.style.columns * options.style.bands);
  const Reservation held = run.host_budget().reserve(
      (std::size_t{1} << 20) + 2 * sizeof(double) * places * options.inputs.size(), "spectrograms");
  std::vector<Spectrogram> spectrograms;
  auto transforming = run.report().phase("spectrograms");
  for (const std::string& each : options.inputs) spectrograms.push_back(spectrogram_of(each, options.style));
  transforming.end();
  draw(spectrogram_chart("", spectrograms, options.style), place, run, text_column);
}

}  // namespace

Verb plot_verb() {
  return {
      .name = "separate plot",
      .summary = "Draw spectrograms of audio files beside each other, or the quality of stems",
      .details =
          "One panel for each file, on logarithmic frequency, in dB below the loudest level of all files: what is "
          "left of one stem in another shows as its shape. Windows of 4096 samples; files of any length are read "
          "in pieces.\n\nOf the separation.json of `sonde separate run --quality`: how far passes agree on each stem, "
          "and what all stems lack of the mixture, over time.",
      .examples = {{"sonde separate plot song.wav out/song/*.wav -o stems.png", "A mixture and its stems"},
                   {"sonde separate plot out/song/separation.json -o quality.png",
                    "How far the stems can be trusted, over time"}},
      .invoke = invocation<PlotOptions, run_plot>};
}

}  // namespace sonde::separate
