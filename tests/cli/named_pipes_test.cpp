// SPDX-License-Identifier: Apache-2.0
// A named pipe where a file is expected would be waited for without end: every verb refuses it, behind links too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::testing {
namespace {

using ::testing::HasSubstr;

/// A folder of pipes and of files whose links lead to them.
class NamedPipes : public ::testing::Test {
 protected:
  NamedPipes() {
    std::filesystem::create_directory(folder_.path() / "scan.zarr");
    for (const char* name : {"pipe.h5", "pipe.npy", "pipe.nc", "pipe.raw", "pipe.mrc", "pipe.toml", "pipe.json",
                             "pipe.tif", "scan.zarr/.zarray"})
      EXPECT_EQ(mkfifo(folder_.file(name).c_str(), 0600), 0);
    std::filesystem::create_symlink("pipe.h5", folder_.path() / "link.h5");
    python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
np.save('good.npy', np.ones((4, 5, 8, 8), 'u2'))
with h5py.File('external_master.h5', 'w') as f:
    f['entry/data/data_000001'] = h5py.ExternalLink('pipe.h5', '/entry/data/data')
with h5py.File('virtual.h5', 'w', libver='latest') as f:
    layout = h5py.VirtualLayout((4, 5, 8, 8), 'u2')
    layout[...] = h5py.VirtualSource('link.h5', 'd', (4, 5, 8, 8))
    f.create_virtual_dataset('scan', layout)
)",
           folder_.path().string());
    std::ofstream(folder_.file("run.toml"))
        << "[data]\nfile = \"pipe.h5\"\n[[engine]]\nname = \"epie\"\niterations = 1\n";
  }

  /// Words with a dot are files of the folder.
  void expect_refused(std::vector<std::string> words) {
    std::string command;
    for (std::string& word : words) {
      command += " " + word;
      if (word.find('.') != std::string::npos && std::isdigit(static_cast<unsigned char>(word[0])) == 0)
        word = folder_.file(word);
    }
    SCOPED_TRACE(command);
    const Ended ended = Program(words, [] { alarm(100); }).wait();
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("is not a regular file"));
  }

  TemporaryFolder folder_;
};

TEST_F(NamedPipes, AreRefusedByEveryVerbOfScans) {
  for (const char* scan :
       {"pipe.h5", "link.h5", "external_master.h5", "virtual.h5", "pipe.npy", "pipe.mrc", "scan.zarr"}) {
    for (const char* verb : {"info", "validate", "load"}) expect_refused({"stem", verb, scan});
    expect_refused({"stem", "image", scan, "-d", "all", "-o", "out.tif"});
    expect_refused({"stem", "convert", scan, "out.npy"});
    expect_refused({"view", scan, "--no-open"});
  }
  expect_refused({"stem", "load", "pipe.raw", "--raw-shape", "4,5,8,8", "--raw-dtype", "u2"});
  expect_refused({"stem", "load", "good.npy", "--mask-file", "pipe.npy"});
  expect_refused({"stem", "load", "good.npy", "--mask-file", "pipe.tif"});
  expect_refused({"report", "show", "pipe.json"});
  expect_refused({"report", "compare", "pipe.json", "pipe.json"});
}

#ifdef SONDE_WITH_PTYCHO
TEST_F(NamedPipes, AreRefusedByEveryVerbOfPtychography) {
  for (const char* file : {"pipe.h5", "link.h5"}) {
    for (const char* verb : {"run", "init", "direct", "report", "resume", "export"})
      expect_refused({"ptycho", verb, file, "-o", "out.h5"});
    for (const char* verb : {"orient", "diagnose"}) expect_refused({"ptycho", verb, file});
    expect_refused({"ptycho", "compare", file, file});
  }
  expect_refused({"ptycho", "run", "run.toml", "-o", "out.h5"});
  for (const char* verb : {"run", "sweep", "simulate"}) expect_refused({"ptycho", verb, "pipe.toml", "-o", "out.h5"});
}
#endif

#ifdef SONDE_WITH_NEOCLASSICAL
TEST_F(NamedPipes, AreRefusedByEveryVerbOfTransport) {
  for (const char* file : {"pipe.nc", "pipe.h5", "link.h5"}) {
    expect_refused({"neoclassical", "run", file, "--s", "0.5", "--nu-hat", "1e-2", "-o", "out.nc"});
    expect_refused({"neoclassical", "scan", file, "--s", "0.5", "--nu-v", "1e-3", "-o", "out.nc"});
    expect_refused({"neoclassical", "database", file, "--rho", "0.3", "--nu-v", "1e-3", "-o", "out.h5"});
    expect_refused({"neoclassical", "plot", file, "-o", "out.svg"});
    expect_refused({"neoclassical", "convert", file, "--to", "sfincs", "-o", "out.h5"});
    for (const char* verb : {"boozer", "profile", "convergence"})
      expect_refused({"neoclassical", verb, file, "-o", "out.nc"});
  }
}
#endif

}  // namespace
}  // namespace sonde::testing
