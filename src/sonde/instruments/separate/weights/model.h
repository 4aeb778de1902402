// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sonde/engine/base/choice.h"
#include "sonde/instruments/separate/network/config.h"
#include "sonde/instruments/separate/network/layers.h"
#include "sonde/instruments/separate/weights/checkpoint.h"

namespace sonde::separate {

/// Where a trained network is.
struct ModelFiles {
  std::string checkpoint{};  ///< a file, or "formula:SEED" for values made from their names (formula_values())
  std::string model{};       ///< the YAML file; empty: find_config()
  std::string state_key{};   ///< as for read_checkpoint()
};

/// A configuration, and why it is this one.
struct ChosenConfig {
  Config config;
  Choice<std::string> source;  ///< the YAML file, or the name of a known network
};

/// A network that can be built: its configuration and where its values are. Both fit each other.
struct Model {
  Config config;
  Choice<std::string> configuration;       ///< as in ChosenConfig
  std::optional<Checkpoint> checkpoint{};  ///< nothing for formula values
  std::uint64_t seed = 0;                  ///< of formula values

  /// match() of the checkpoint, or formula values: these take memory as large as the network.
  [[nodiscard]] ParameterValues values() const;
};

/// Opens the checkpoint and the configuration that belongs to it and compares them. Throws what read_checkpoint(),
/// read_config() and find_config() throw, and Error(bad_file) with all contradictions of the two, each with the field
/// and the tensor.
[[nodiscard]] Model open_model(const ModelFiles& files);

/// Which configuration belongs to a checkpoint: in its folder the YAML file of the same name, `config_mdx23c.yaml`,
/// `config.yaml`, or the only one whose numbers fit the tensors; where none is there, the known configuration whose
/// shapes are the same. Throws Error(bad_file) where several files fit, and where none fits, with what no tensor says.
[[nodiscard]] ChosenConfig find_config(const Checkpoint& checkpoint);

}  // namespace sonde::separate
