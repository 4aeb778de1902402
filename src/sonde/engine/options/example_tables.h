// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a file of one table that stands once and one list of two kinds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/options/tables.h"

namespace sonde::testing {

struct ExampleGeometry {
  double energy_kev = 200;
  std::string shape;
  bool turned = false;
  std::vector<std::string> notes;
  std::optional<double> step;

  void describe(Fields& fields) {
    fields.add("energy_keV", energy_kev, {.help = "energy of the beam", .unit = "keV", .min = 1});
    fields.add("shape", shape, {.help = "rows and columns"});
    fields.add("turned", turned, {.help = "exchange rows and columns"});
    fields.add("notes", notes, {.help = "anything"});
    fields.add("step", step, {.help = "of the scan"});
  }
};

struct ExampleEngine {
  std::string kind;
  Index iterations = 100;
  double gain = 0.5;

  void describe(Fields& fields) {
    fields.add("iterations", iterations, {.help = "how many", .min = 1});
    if (kind == "fast") fields.add("gain", gain, {.help = "of each step"});
  }
};

struct ExampleRun {
  ExampleGeometry geometry;
  std::vector<std::unique_ptr<ExampleEngine>> engines;

  [[nodiscard]] Tables tables() {
    Tables tables;
    tables.add("geometry", Fields(geometry));
    tables.add_list("engine", {"fast", "slow"}, [this](const std::string& kind) {
      engines.push_back(std::make_unique<ExampleEngine>(ExampleEngine{.kind = kind}));
      return Fields(*engines.back());
    });
    return tables;
  }
};

}  // namespace sonde::testing
