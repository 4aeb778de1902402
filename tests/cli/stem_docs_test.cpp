// SPDX-License-Identifier: Apache-2.0
// Every command that the user guide shows runs, in its order, in one folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/calibrate/test_rings.h"
#include "sonde/instruments/stem/timepix/test_words.h"
#include "sonde/instruments/stem/view/page.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/cli/stem.h"
#include "tests/support/places.h"

namespace sonde {
namespace {

using testing::TemporaryFolder;

/// A cubic metal with one atom in each lattice point.
std::string metal(const std::string& symbol, const std::string& length, const std::string& group) {
  return "data_" + symbol + "\n_cell_length_a " + length + "\n_cell_length_b " + length + "\n_cell_length_c " + length +
         "\n_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n_space_group_name_H-M_alt '" + group +
         "'\nloop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n" + symbol +
         "1 0 0 0\n";
}

/// The lines in code blocks of a page that begin with "sonde ".
std::vector<std::string> commands_of(const std::string& page) {
  std::ifstream file(page);
  std::vector<std::string> commands;
  bool in_block = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) in_block = !in_block;
    if (in_block && line.starts_with("sonde ")) commands.push_back(line);
  }
  return commands;
}

/// Runs a line in a shell in `folder`; its output, and whether it succeeded.
std::pair<std::string, bool> shell(const std::string& folder, const std::string& line) {
  std::FILE* pipe = popen(("cd '" + folder + "' && " + line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"cannot start a shell", false};
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  return {output, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

/// 12 lines of 16 positions of 2 us with a flyback of 8 us; an electron of two hits every 0.4 us.
void save_hits(const std::string& path) {
  using namespace stem::testing;
  std::vector<std::uint64_t> words;
  for (int row = 0; row < 12; ++row) {
    words.push_back(edge_word((1000 + 40 * row) * fine_us));
    for (int i = 0; i < 100; ++i)
      for (int hit = 0; hit < 2; ++hit)
        words.push_back(hit_word(
            {(1000 + 40 * row) * ticks_us + 256 * i + hit, (row * 17 + i * 5) % 250 + hit, (i * 29) % 256, 30 - hit}));
  }
  WordFile file;
  file.words(words, 270);
  file.save(path);
}

/// What a person saved in the viewer of `master`: a bright-field image.
void save_state(const std::string& master, const std::string& path) {
  const panel::Page page = stem::make_page({master}, {}, Budget(std::size_t{1} << 30, "test"));
  stem::testing::Client client(page);
  stem::testing::wait_until_loaded(client, page);
  (void)client.ask("set_detector", R"({"channel": 0, "expr": "bf"})");
  std::ofstream(path) << to_json(*client.ask("save_state").find("state"));
}

/// Four patterns of the rings of gold, as ellipses.
void save_powder(const std::string& path) {
  stem::Rings rings;
  rings.disk = 4000;
  rings.a = 1.015;
  rings.b = 1 / rings.a;
  rings.theta = 0.7;
  std::vector<std::uint16_t> frames;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const double counts : rings.counts(seed)) frames.push_back(static_cast<std::uint16_t>(counts));
  write_npy(path, Array::from(frames, {2, 2, rings.rows, rings.cols}));
}

TEST(UserGuide, EveryCommandOfStemRuns) {
  const TemporaryFolder folder;
  // FOLDER on the page: a series of three tilts.
  std::filesystem::create_directory(folder.path() / "FOLDER");
  for (const char* tilt : {"tilt_1", "tilt_2", "tilt_10"})
    testing::make_small_scan(folder, std::string("FOLDER/") + tilt);
  // What else a reader has.
  std::ofstream(folder.file("Au.cif")) << metal("Au", "4.078", "F m -3 m");
  std::ofstream(folder.file("Fe.cif")) << metal("Fe", "2.8665", "I m -3 m");
  save_hits(folder.file("in.tpx3"));
  save_powder(folder.file("powder.npy"));
  ASSERT_TRUE(shell(folder.path().string(), testing::program() + " stem simulate vacuum_master.h5 --sample vacuum "
                                                                 "--scan-shape 4,4 --no-truth --quiet")
                  .second);
  const std::vector<std::string> commands = commands_of(testing::source_folder() + "/docs/stem.md");
  EXPECT_GT(commands.size(), 12u);
  for (const std::string& command : commands) {
    const bool serves = command.starts_with("sonde view ");  // until somebody ends it: the plan is enough
    if (command.find("--state state.json") != std::string::npos)
      save_state(folder.file("scan_master.h5"), folder.file("state.json"));
    const auto [output, fine] =
        shell(folder.path().string(),
              testing::program() + command.substr(std::string("sonde").size()) + (serves ? " --dry-run" : ""));
    EXPECT_TRUE(fine) << command << "\n" << output;
  }
  EXPECT_EQ(testing::read_bytes(folder.file("haadf.tif")), testing::read_bytes(folder.file("again.tif")));
}

}  // namespace
}  // namespace sonde
