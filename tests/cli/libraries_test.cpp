// SPDX-License-Identifier: Apache-2.0
// Large libraries are loaded by what uses them and by nothing else, and little address space suffices. What a process
// loads is written down by the loader itself (LD_DEBUG).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/cli/stem.h"
#include "tests/support/files.h"

namespace sonde::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string debug_output;

/// The names of the shared objects that the program loads, from its start to its end.
std::set<std::string> libraries_of(std::vector<std::string> words) {
  const TemporaryFolder folder;
  debug_output = folder.file("loaded");
  const auto write_down = [] {
    setenv("LD_DEBUG", "files", 1);
    setenv("LD_DEBUG_OUTPUT", debug_output.c_str(), 1);
  };
  const Program program(std::move(words), write_down);
  const pid_t id = program.id();
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  std::set<std::string> names;
  std::ifstream log(debug_output + "." + std::to_string(id));
  constexpr std::string_view mark = "calling init: ";
  for (std::string line; std::getline(log, line);)
    if (const std::size_t at = line.find(mark); at != std::string::npos)
      names.insert(std::filesystem::path(line.substr(at + mark.size())).filename());
  EXPECT_THAT(names, Contains(HasSubstr("libc.so"))) << "the loader wrote nothing down";
  return names;
}

void expect_none_of(const std::set<std::string>& names, const std::vector<const char*>& parts) {
  for (const char* part : parts) EXPECT_THAT(names, Not(Contains(HasSubstr(part))));
}

const std::vector<const char*> heavy = {"blas",   "lapack",     "gfortran",  "libmpi",   "open-pal", "cufft",
                                        "cublas", "sonde_blas", "sonde_mpi", "sonde_cu", "yaml"};

TEST(Libraries, HelpLoadsNoneOfTheLargeOnes) {
  const std::set<std::string> names = libraries_of({"--help"});
  expect_none_of(names, heavy);
  expect_none_of(names, {"hdf5", "curl", "libcrypto"});  // with what Debian's HDF5 brings along
}

TEST(Libraries, LookingAtAScanLoadsNoneForAlgebraMessagesOrGraphicsProcessors) {
  const TemporaryFolder folder;
  const std::string scan = make_small_scan(folder);
  expect_none_of(libraries_of({"stem", "info", scan}), heavy);
  expect_none_of(libraries_of({"stem", "image", scan, "-o", folder.file("bf.npy"), "-d", "bf"}), heavy);
}

#ifdef SONDE_WITH_NEOCLASSICAL
const std::vector<std::string> solve = {"neoclassical",   "run",   "analytic-demo", "--nu-hat",       "1e-2",
                                        "--er-hat",       "1e-3",  "--set",         "grid.n_theta=9", "--set",
                                        "grid.n_zeta=13", "--set", "grid.n_xi=16"};

TEST(Libraries, ASolutionLoadsOpenBlasAndNoMpi) {
  const std::set<std::string> names = libraries_of(solve);
  EXPECT_THAT(names, Contains(HasSubstr("libopenblas")));
  EXPECT_THAT(names, Contains("sonde_blas.so"));
  expect_none_of(names, {"libmpi", "cufft", "cublas"});
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve terabytes of addresses themselves
template <rlim_t kibibytes>
void limit_addresses() {
  const rlimit limit{kibibytes << 10, kibibytes << 10};
  setrlimit(RLIMIT_AS, &limit);
}

/// A program that waits for ever for memory ends by the alarm, and not with status 0.
Ended in_500_MB(std::vector<std::string> words) {
  return Program(std::move(words),
                 [] {
                   limit_addresses<500000>();
                   alarm(300);
                 })
      .wait();
}

TEST(Libraries, TheProgramStartsIn100MegabytesOfAddresses) {
  for (const char* word : {"--help", "--version"}) {
    const Ended ended = Program({word}, limit_addresses<100000>).wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("sonde"));
  }
}

TEST(Libraries, AScanIsLoadedIn500MegabytesOfAddresses) {
  const TemporaryFolder folder;
  const std::string scan = make_small_scan(folder);
  const Ended ended = in_500_MB({"stem", "load", scan, "--threads", "2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
}

#ifdef SONDE_WITH_NEOCLASSICAL
TEST(Libraries, ASurfaceIsSolvedIn500MegabytesOfAddresses) {
  std::vector<std::string> words = solve;
  words.insert(words.end(), {"--threads", "2"});
  const Ended ended = in_500_MB(words);
  EXPECT_EQ(ended.status, 0) << ended.err;
}

TEST(Libraries, OpenBlasWithoutRoomForItsBuffersIsAnErrorOfMemory) {
  std::vector<std::string> words = solve;
  words.insert(words.end(), {"--threads", "4"});
  const Ended ended = in_500_MB(words);
  EXPECT_EQ(ended.status, 4) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("error: OpenBLAS: the address space holds the buffers (128 MiB each) of "));
  EXPECT_THAT(ended.err, HasSubstr("of 4 threads\n"));
  EXPECT_THAT(ended.err, HasSubstr("or raise the limit of the address space (ulimit -v)\n"));
}
#endif

#ifdef SONDE_WITH_PTYCHO
TEST(Libraries, AnObjectIsReconstructedIn500MegabytesOfAddresses) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_500_MB({"ptycho", "simulate", "-o", folder.file("scan.h5"), "--detector-px", "32", "--scan-shape", "6,6",
                       "--threads", "2"})
                .status,
            0);
  const Ended ended = in_500_MB({"ptycho", "run", folder.file("scan.h5"), "-o", folder.file("result.h5"), "--threads",
                                 "2", "--set", "engine.0.iterations=2"});
  EXPECT_EQ(ended.status, 0) << ended.err;
}
#endif
#endif

}  // namespace
}  // namespace sonde::testing
