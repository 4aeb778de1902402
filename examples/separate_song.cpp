// SPDX-License-Identifier: Apache-2.0
// Takes the kick drum out of a song, in thirty lines: separate_song SONG.wav CHECKPOINT.ckpt KICK.wav
#include <cstdio>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/weights/model.h"

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 4) return std::fprintf(stderr, "usage: separate_song SONG.wav CHECKPOINT.ckpt KICK.wav\n"), 2;
  try {
    // The configuration is the YAML file beside the checkpoint.
    const separate::Model model = separate::open_model({.checkpoint = argv[2]});
    separate::Plan network = separate::Plan::prepare(model.config, model.values());

    separate::SeparationSettings settings;
    settings.overlap = 2;
    settings.reading.rate = settings.writing.file.rate = model.config.sample_rate;
    const separate::SeparationResult result = separate::separate_file(
        {.input = argv[1], .outputs = separate::choose_outputs(model.config.stems(), "kick"), .paths = {argv[3]}},
        settings, model.config, network);

    std::printf("%s: %.2f s, peak %.3f\n", argv[3],
                static_cast<double>(result.samples) / static_cast<double>(model.config.sample_rate),
                result.written.outputs[0].peak);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
