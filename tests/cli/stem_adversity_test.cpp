// SPDX-License-Identifier: Apache-2.0
// Full disks, failing disks and interrupts: one clear error, and nothing half-written stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5.h"
#include "tests/cli/stem.h"
#include "tests/support/child.h"
#include "tests/support/places.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_small_scan;
using testing::names_in;
using ::testing::Not;
using testing::Program;
using ::testing::StartsWith;
using testing::TemporaryFolder;

void small_disk() { testing::limit_file_size(2000); }

TEST(FullDisk, IsAnIoErrorAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  fs::create_directory(folder.path() / "out");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "convert", master, folder.file("out/a.npy")},
        {"stem", "convert", master, folder.file("out/a.emd")},
        {"stem", "convert", master, folder.file("out/a_master.h5")},
        {"stem", "image", master, "-o", folder.file("out/a.tif")},
        {"stem", "image", master, "-o", folder.file("out/a.h5")},
        {"stem", "image", master, "-o", folder.file("out/a.npy")},
        {"stem", "load", master, "-o", folder.file("out/a.h5")},
        {"stem", "simulate", folder.file("out/b_master.h5"), "--scan-shape", "8,8", "--detector-shape", "64,64"}}) {
    SCOPED_TRACE(words[1] + " " + words.back());
    std::vector<std::string> quiet = words;
    quiet.push_back("--quiet");
    const Ended ended = Program(quiet, small_disk).wait();
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("out/"));
    EXPECT_THAT(names_in(folder.path() / "out"), IsEmpty());
  }
}

/// Runs the program on a disk that fails to read one byte of a file.
Ended run_on_bad_disk(std::vector<std::string> words, const std::string& file, std::size_t offset) {
  const std::pair<const char*, std::string> settings[] = {{"LD_PRELOAD", SONDE_FAILING_READ},
                                                          {"SONDE_BAD_FILE", fs::canonical(file).string()},
                                                          {"SONDE_BAD_OFFSET", std::to_string(offset)},
                                                          {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
  for (const auto& [name, value] : settings) setenv(name, value.c_str(), 1);
  const Program program(std::move(words));
  for (const auto& [name, value] : settings) unsetenv(name);
  return program.wait();
}

TEST(FailingDisk, IsAnIoErrorThatNamesFileAndPlace) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), data = folder.file("scan_data_000002.h5");
  // The last frame of the second file: everything before it has been read and decoded.
  const std::uint64_t offset = read_chunk_index(Hdf5File::open(data).dataset("/entry/data/data"))[49].offset;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "load", master, "-o", folder.file("a.h5")},
        {"stem", "convert", master, folder.file("a.npy")},
        {"stem", "image", master, "-d", "all", "-o", folder.file("a.tif")}}) {
    SCOPED_TRACE(words[1]);
    const Ended ended = run_on_bad_disk(words, data, offset);
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("scan_data_000002.h5: reading "), HasSubstr(" bytes at offset "),
                                 HasSubstr(" failed: Input/output error")));
    EXPECT_THAT(names_in(folder.path()), Not(Contains(StartsWith("a."))));
  }
}

// ThreadSanitizer watches every read: what takes a second without it takes half a minute.
#ifdef __SANITIZE_THREAD__
constexpr int load_rows = 6, convert_rows = 2;
#else
constexpr int load_rows = 20, convert_rows = 6;
#endif

/// A sparse raw file: rows of 16 MiB of zeros that take no space, but time to read.
std::vector<std::string> long_scan(const TemporaryFolder& folder, int rows) {
  const std::string path = folder.file("long.raw");
  std::ofstream(path).put(0);
  fs::resize_file(path, static_cast<std::uintmax_t>(rows) * 64 * 512 * 512);
  return {path, "--raw-shape", std::to_string(rows) + ",64,512,512", "--raw-dtype", "u1"};
}

/// Bytes that a process has read so far.
std::size_t bytes_read(pid_t process) {
  std::ifstream counts("/proc/" + std::to_string(process) + "/io");
  std::string key;
  std::size_t value = 0;
  counts >> key >> value;
  return key == "rchar:" ? value : 0;
}

bool has_ended(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}

/// Sends the signal as soon as the program is in the middle of its work, which `reached` tells.
Ended interrupted(std::vector<std::string> words, int signal, const std::function<bool(pid_t)>& reached) {
  const Program program(std::move(words));
  while (!reached(program.id()) && !has_ended(program.id()))
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  kill(program.id(), signal);
  return program.wait();
}

TEST(Interrupt, EndsALoadInTheMiddle) {
  const TemporaryFolder folder;
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    std::vector<std::string> words = {"stem", "load"};
    const auto scan = long_scan(folder, load_rows);
    words.insert(words.end(), scan.begin(), scan.end());
    words.insert(words.end(), {"-o", folder.file("summary.h5"), "--layout", "file"});
    const Ended ended = interrupted(
        words, signal, [](pid_t process) { return bytes_read(process) > std::size_t{5 * load_rows} << 20; });
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(names_in(folder.path()), ElementsAre("long.raw"));
  }
}

/// A load that waits for ever for its file, until the second signal: it gets `first`, then `second` again and again.
Ended interrupted_twice(int first, int second) {
  const TemporaryFolder folder;
  const std::vector<std::string> scan = long_scan(folder, 1);
  std::vector<std::string> words = {"stem", "load"};
  words.insert(words.end(), scan.begin(), scan.end());
  const std::string file = fs::canonical(scan.front()).string();
  const std::pair<const char*, std::string> settings[] = {
      {"LD_PRELOAD", SONDE_FAILING_READ}, {"SONDE_STUCK_FILE", file}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
  for (const auto& [name, value] : settings) setenv(name, value.c_str(), 1);
  const Program program(std::move(words));
  for (const auto& [name, value] : settings) unsetenv(name);
  const auto wait_a_little = [] { std::this_thread::sleep_for(std::chrono::microseconds(500)); };
  while (!fs::exists(file + ".reached") && !has_ended(program.id())) wait_a_little();
  EXPECT_TRUE(fs::exists(file + ".reached")) << "the load has not come to its file";
  kill(program.id(), first);
  while (!has_ended(program.id())) {
    wait_a_little();
    kill(program.id(), second);
  }
  return program.wait();
}

TEST(SecondInterrupt, EndsAProgramThatDoesNotLook) {
  for (const auto& [first, second, status] :
       {std::tuple{SIGINT, SIGINT, 130}, {SIGTERM, SIGTERM, 143}, {SIGINT, SIGTERM, 143}}) {
    SCOPED_TRACE(status);
    EXPECT_EQ(interrupted_twice(first, second).status, status);
  }
}

TEST(Interrupt, UnderNohupTheEndOfTheTerminalIsNone) {
  const TemporaryFolder folder;
  const Program program({"stem", "simulate", folder.file("scan_master.h5"), "--scan-shape", "32,32"},
                        [] { ::signal(SIGHUP, SIG_IGN); });
  while (names_in(folder.path()).empty() && !has_ended(program.id()))
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  kill(program.id(), SIGHUP);
  EXPECT_EQ(program.wait().status, 0);
}

TEST(Interrupt, OfAConversionLeavesNothingHalfWritten) {
  const TemporaryFolder folder;
#ifdef __SANITIZE_THREAD__  // which takes half a minute for each
  const std::vector<const char*> outputs = {"out_master.h5"};
#else
  const std::vector<const char*> outputs = {"out.npy", "out.emd", "out_master.h5"};
#endif
  for (const char* name : outputs) {
    std::vector<std::string> words = {"stem", "convert"};
    // The whole scan is loaded before the first byte is written.
    std::vector<std::string> scan = long_scan(folder, convert_rows);
    scan.insert(scan.begin() + 1, folder.file(name));
    words.insert(words.end(), scan.begin(), scan.end());
    const Ended ended = interrupted(words, SIGINT, [&](pid_t) { return names_in(folder.path()).size() > 1; });
    EXPECT_EQ(ended.status, 130) << name << ": " << ended.err;
    EXPECT_THAT(names_in(folder.path()), ElementsAre("long.raw")) << name;
  }
}

TEST(Interrupt, OfASimulationLeavesNothingHalfWritten) {
  const TemporaryFolder folder;
  const Ended ended = interrupted({"stem", "simulate", folder.file("scan_master.h5"), "--scan-shape", "128,128"},
                                  SIGTERM, [&](pid_t) { return !names_in(folder.path()).empty(); });
  EXPECT_EQ(ended.status, 143) << ended.err;
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

/// What a terminal of many columns shows after these bytes: line breaks, carriage returns and "erase to the end of the
/// line" are all that the program uses.
std::vector<std::string> screen(const std::string& bytes) {
  std::vector<std::string> lines(1);
  std::size_t col = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string& line = lines.back();
    if (bytes[i] == '\n') {
      lines.emplace_back();
    } else if (bytes[i] == '\r') {
      col = 0;
    } else if (bytes.compare(i, 3, "\x1b[K") == 0) {
      line.resize(std::min(line.size(), col));
      i += 2;
    } else {
      line.resize(std::max(line.size(), col + 1), ' ');
      line[col++] = bytes[i];
    }
  }
  return lines;
}

/// The program with standard error on a terminal of its own, whose keyboard and screen the test has.
class OnTerminal {
 public:
  explicit OnTerminal(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), testing::program());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&keyboard_, nullptr, nullptr, &size);
    if (child_ == 0) {
      execv(argv.front(), argv.data());
      _exit(127);
    }
  }
  ~OnTerminal() { close(keyboard_); }

  /// Everything shown until `text` appears, or the program ends.
  const std::string& shown_until(const std::string& text) {
    std::array<char, 1024> part{};
    while (shown_.find(text) == std::string::npos) {
      const ssize_t got = read(keyboard_, part.data(), part.size());
      if (got <= 0) break;  // EIO: the program has ended
      shown_.append(part.data(), static_cast<std::size_t>(got));
    }
    return shown_;
  }
  void type(char key) const { EXPECT_EQ(write(keyboard_, &key, 1), 1); }
  [[nodiscard]] int status() const {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  int keyboard_ = -1;
  std::string shown_;
};

TEST(Interrupt, ByTheKeyboardLeavesNoBarBehind) {
  const TemporaryFolder folder;
  OnTerminal program({"stem", "simulate", folder.file("scan_master.h5"), "--scan-shape", "512,512"});
  ASSERT_THAT(program.shown_until("frames/s"), HasSubstr("simulating [")) << "no bar was drawn";
  program.type('\x03');
  const std::vector<std::string> lines = screen(program.shown_until("no such text"));
  EXPECT_EQ(program.status(), 130);
  EXPECT_EQ(lines.back(), "");  // the cursor stands at the beginning of a line
  EXPECT_THAT(lines, Contains(HasSubstr("interrupted")));
  EXPECT_THAT(lines, Each(Not(HasSubstr("simulating ["))));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

}  // namespace
}  // namespace sonde
