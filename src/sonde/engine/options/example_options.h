// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: one struct with a field of every kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/fields.h"

namespace sonde::testing {

enum class Edge { keep, drop };

struct ExampleOptions {
  std::string input;
  std::vector<std::string> more;
  std::string det_bin = "1";
  Index frames = 100;
  std::optional<Index> seed;
  double dose = 2.5;
  std::optional<double> voltage;
  std::optional<std::string> centre;
  bool hot_pixels = true;
  Bytes block{1 << 20};
  std::optional<Bytes> memory;
  std::vector<std::string> detector = {"BF"};
  Edge edge = Edge::keep;
  bool dry_run = false;

  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "file to read"});
    fields.positional("more", more, {.help = "further files", .optional = true});
    fields.add("det_bin", det_bin, {.help = "sum N x N detector pixels", .metavar = "N|auto"});
    fields.add("frames", frames, {.help = "how many frames", .unit = "frames", .min = 1, .max = 1e9});
    fields.add("seed", seed, {.help = "start of the random numbers"});
    fields.add("dose", dose, {.help = "mean counts per pixel", .unit = "counts", .min = 0});
    fields.add("voltage", voltage, {.help = "acceleration voltage", .unit = "kV", .min = 1, .max = 2000});
    fields.add("centre", centre, {.help = "centre of the pattern", .metavar = "ROW,COL", .alias = "center"});
    fields.add("hot_pixels", hot_pixels, {.help = "leave hot pixels out"});
    fields.add("block", block, {.help = "size of a read", .min = 4096});
    fields.add("detector", detector, {.help = "virtual detector", .letter = 'd'});
    fields.choice("edge", edge, {{"keep", Edge::keep}, {"drop", Edge::drop}}, {.help = "incomplete edge bins"});
    fields.heading("Common settings");
    fields.add("memory", memory, {.help = "limit of the memory"});
    fields.add("dry_run", dry_run, {.help = "print what would be done", .flag_only = true});
  }
};

}  // namespace sonde::testing
