// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/model_options.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"

namespace sonde::separate {

void describe_state_key(std::string& state_key, Fields& fields) {
  fields.add("state_key", state_key,
             {.help = "key of the parameters in a training state; without it the first of state, state_dict, "
                      "model_state_dict, model, ema and net that holds tensors",
              .metavar = "KEY"});
}

void ModelOptions::describe(Fields& fields) {
  fields.add("checkpoint", files.checkpoint,
             {.help = "trained network, or formula:SEED for values made from their names",
              .metavar = "MODEL.ckpt|.pth|.safetensors|formula:SEED"});
  fields.add("model", files.model,
             {.help = "configuration of the network; without it the one beside the checkpoint, or a known one whose "
                      "shapes are the same",
              .metavar = "CONFIG.yaml"});
  describe_state_key(files.state_key, fields);
}

void ModelOptions::describe_second(Fields& fields) {
  fields.add("then", files.checkpoint,
             {.help = "a second network, which separates a stem of the first: the drums of a song into a drum kit",
              .metavar = "MODEL.ckpt|.pth|.safetensors|formula:SEED"});
  fields.add(
      "then_model", files.model,
      {.help = "configuration of the second network; without it found as that of the first", .metavar = "CONFIG.yaml"});
  fields.add("then_state_key", files.state_key,
             {.help = "key of the parameters in a training state of the second network", .metavar = "KEY"});
}

Model ModelOptions::open(Run& run, const std::string& whose) const {
  if (files.checkpoint.empty())
    throw Error(ErrorKind::usage, setting("checkpoint") + " is missing")
        .hint("name the trained network, " + setting("checkpoint", "MODEL.ckpt"));
  if (is_plain_file(files.checkpoint)) run.require_room_for(files.checkpoint);
  Model model = open_model(files);
  run.report().add_choice("configuration" + whose, model.configuration);
  if (model.checkpoint) say_doubts(*model.checkpoint, run);
  return model;
}

void say_doubts(const Checkpoint& checkpoint, Run& run) {
  for (const std::string& warning : checkpoint.warnings) log_warning(warning);
  if (!checkpoint.unverified.empty())
    run.say(
        fmt::format("checksums   none for {} of the entries, which were not verified", checkpoint.unverified.size()));
}

}  // namespace sonde::separate
