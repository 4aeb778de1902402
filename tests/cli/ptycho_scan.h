// SPDX-License-Identifier: Apache-2.0
// A small measurement that reconstructs in a blink, made by NumPy.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/index.h"
#include "tests/cli/program.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::testing {

/// A scan of 8 x 8 positions, 24 x 24 pixels, 2 px apart, made with NumPy: a Gaussian probe, random phases, Poisson
/// counts. `change` is Python that may alter `frames` (64, 24, 24), `positions` (64, 2) and what else is written.
class OnSmallScan : public ::testing::Test {
 protected:
  void write(const std::string& change = "") const {
    python(
        "import sys, h5py, numpy as np\n"
        "rng = np.random.default_rng(3)\n"
        "n = 24; y = np.arange(n) - n // 2\n"
        "probe = np.exp(-(y[:, None] ** 2 + y ** 2) / 30) * np.exp(0.05j * (y[:, None] ** 2 + y ** 2))\n"
        "probe *= np.sqrt(1e5 / np.sum(abs(probe) ** 2))\n"
        "obj = np.exp(1j * rng.uniform(0, 0.8, (38, 38)))\n"
        "positions = np.array([(12 + 2 * i, 12 + 2 * k) for i in range(8) for k in range(8)], float)\n"
        "frames = np.array([np.fft.fftshift(abs(np.fft.fft2(probe * obj[2*i:2*i+n, 2*k:2*k+n])) ** 2) / n ** 2\n"
        "                   for i in range(8) for k in range(8)])\n"
        "frames = rng.poisson(frames).astype('u2')\n"
        "mask = np.ones((n, n), 'u1')\n" +
            change +
            "\nwith h5py.File(sys.argv[1], 'w') as f:\n"
            "  f['data'] = frames; f['positions'] = positions; f['mask'] = mask; f['probe'] = probe\n",
        file("scan.h5"));
  }
  /// A run file for it; `more` are further lines, each table complete.
  [[nodiscard]] std::string run_file(const std::string& more = "", const std::string& data = "",
                                     Index iterations = 5) const {
    std::ofstream(file("run.toml")) << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\npositions = \"positions\"\n"
                                    << data << "\n[geometry]\nunits = \"pixel\"\n[probe]\nfile = \"scan.h5:probe\"\n"
                                    << "[[engine]]\nname = \"epie\"\niterations = " << iterations << "\n"
                                    << (more.empty() ? "[stop]\nrule = \"off\"\n" : more);
    return file("run.toml");
  }
  [[nodiscard]] Ended reconstruct(const std::string& run_file, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"ptycho", "run", run_file, "-o", file("result.h5")});
    return run(more);
  }
  [[nodiscard]] bool has_result() const { return std::filesystem::exists(file("result.h5")); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  TemporaryFolder folder_;
};

}  // namespace sonde::testing
