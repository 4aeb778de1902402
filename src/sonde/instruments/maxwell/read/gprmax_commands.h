// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// A line "#name: values" of an input file of gprMax.
struct GprmaxCommand {
  std::string file;                ///< the file that has it, as named on the way to it
  Index line = 0;                  ///< from 1
  std::string name;                ///< without # and colon
  std::string text;                ///< what follows the colon, without blanks at its ends
  std::vector<std::string> words;  ///< of the text, separated by blanks and tabs
  std::optional<Error> fault{};    ///< what makes the line itself unusable

  [[nodiscard]] std::string where() const;  ///< "model.in, line 5"
};

/// The content of a file that an input names.
using TextReader = std::function<std::string(const std::string& path)>;
/// From disk, at most 256 MiB. Throws like read_text().
[[nodiscard]] std::string read_input_text(const std::string& path);

/// The commands of a text in their order (gprMax user guide, "Input file commands"): a line is a command when # is its
/// first character; ## and all other lines are comments. #include_file is replaced by the commands of that file, whose
/// name counts from the folder of the file that has the line; in contrast to gprMax, included files may include others,
/// up to 16 deep. A block from #python: to #end_python: is one command of the name python. `name` stands for the text
/// in messages. Throws nothing for what the text contains: lines that are wrong have a fault.
[[nodiscard]] std::vector<GprmaxCommand> parse_gprmax_commands(std::string_view text, const std::string& name,
                                                               const TextReader& read = read_input_text);

/// A file named in `file`, from the folder of that one.
[[nodiscard]] std::string beside(const std::string& file, const std::string& named);

}  // namespace sonde::maxwell
