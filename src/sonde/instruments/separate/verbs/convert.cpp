// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/separate/verbs/model_options.h"
#include "sonde/instruments/separate/verbs/verbs.h"
#include "sonde/instruments/separate/weights/safetensors_writer.h"

namespace sonde::separate {
namespace {

struct ConvertOptions {
  std::string input, output, state_key;
  Stored dtype = Stored::f32;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "checkpoint of PyTorch, or safetensors", .metavar = "IN.ckpt|.pth|.safetensors"});
    fields.positional("output", output, {.help = "the same parameters, without code", .metavar = "OUT.safetensors"});
    fields.choice("dtype", dtype, {{"f32", Stored::f32}, {"f16", Stored::f16}, {"bf16", Stored::bf16}},
                  {.help = "element type of the written values"});
    describe_state_key(state_key, fields);
  }
};

void run_convert(const ConvertOptions& options, Run& run) {
  constexpr std::string_view ending = ".safetensors";
  if (!to_lower(options.output).ends_with(ending))
    throw Error(ErrorKind::usage, fmt::format("{}: expected a name that ends in {}", options.output, ending));
  require_place(options.output);
  run.require_room_for(options.input);
  auto reading = run.report().phase("read");
  const Checkpoint checkpoint = read_checkpoint(options.input, options.state_key);
  reading.end();
  say_doubts(checkpoint, run);
  const auto writing = run.report().phase("write");
  write_safetensors(options.output, checkpoint, options.dtype);
  run.results()["tensors"] = checkpoint.tensors.size();
  run.results()["dtype"] = to_lower(name(options.dtype));
  run.results()["files"].push_back(options.output);
  run.say(fmt::format("tensors     {}, as {}", checkpoint.tensors.size(), to_lower(name(options.dtype))));
  run.say("wrote       " + options.output);
}

}  // namespace

Verb convert_verb() {
  return {.name = "separate convert",
          .summary = "Write the parameters of a checkpoint as safetensors",
          .details =
              "The written file holds only the parameters: no code, no optimiser. f32 keeps every bit of a float32 "
              "checkpoint; f16 and bf16 halve the file and round to the nearest value. Whole numbers stay whole. The "
              "checkpoint may be of any network.",
          .examples = {{"sonde separate convert DrumSep.ckpt DrumSep.safetensors", "The same values, without pickle"},
                       {"sonde separate convert DrumSep.ckpt half.safetensors --dtype f16", "Half the size"}},
          .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::separate
