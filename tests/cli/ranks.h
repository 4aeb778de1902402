// SPDX-License-Identifier: Apache-2.0
// Runs the built program as several ranks.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/python.h"

namespace sonde::testing {

/// Open MPI 4.1 keeps files in /tmp/ompi.HOST.UID and fails where another launcher makes that folder between its look
/// and its mkdir. So what this test program starts from now on has a folder of its own.
inline void keep_launchers_apart() {
  static const TemporaryFolder folder;
  setenv("OMPI_MCA_orte_tmpdir_base", folder.file("").c_str(), 1);
}

/// The words of `mpirun -n <count> sonde ...` as a list of Python.
inline std::string words_together(int count, const std::vector<std::string>& arguments) {
  keep_launchers_apart();
  std::string list = "['" SONDE_MPIRUN "', '-n', '" + std::to_string(count) +
                     "', '--oversubscribe', '--allow-run-as-root', '" + program() + "'";
  for (const std::string& argument : arguments) list += ", '" + argument + "'";
  return list + "]";
}

/// What `mpirun -n <count> sonde ...` ends with and says; `err` has all that it prints there, the launcher's words too.
inline Ended run_together(int count, const std::vector<std::string>& arguments) {
  const std::string said = python("import subprocess\ndone = subprocess.run(" + words_together(count, arguments) +
                                      ", stderr=subprocess.PIPE, text=True)\n"
                                      "print(done.returncode)\nprint(done.stderr)\n",
                                  "");
  return {std::atoi(said.c_str()), "", said};
}

}  // namespace sonde::testing
