// SPDX-License-Identifier: Apache-2.0
// Inversions as a user runs them: results, interruptions, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/maxwell.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::MaxwellProgram;
using testing::Program;

/// Two shots, three receivers, 40 x 30 cells of 5 cm. The records are those of eps_r = 4.2.
const std::string small_survey =
    "[model]\neps_r = 4\nsigma = 0.002\nshape = [40, 30]\nspacing = 0.05\n"
    "[survey]\nsources = [10, 4, 30, 4]\nreceivers = [10, 24, 20, 24, 30, 24]\n"
    "[source]\nf0 = 100e6\n[time]\nnt = 300\ndt = 8e-11\n"
    "[data]\nfile = \"records.h5\"\n"
    "[inversion]\neps_r_bounds = [2, 9]\n";
const std::string two_stages =
    "[[inversion.stage]]\nfmax = 100e6\niterations = 6\n[[inversion.stage]]\niterations = 6\n";

class MaxwellFwi : public MaxwellProgram {
 protected:
  MaxwellFwi() {
    const std::string truth = model(small_survey, "truth.toml");
    EXPECT_EQ(command({"run", truth, "--set", "model.eps_r=4.2", "-o", file("records.h5")}).status, 0);
  }
  /// The run file with more of it at its end.
  [[nodiscard]] std::string run_file(const std::string& more = two_stages, const std::string& name = "run.toml") const {
    return model(small_survey + more, name);
  }
  /// A run file with a piece of it replaced.
  [[nodiscard]] std::string changed(const std::string& piece, const std::string& by, const std::string& name) const {
    std::string text = small_survey + two_stages;
    return model(text.replace(text.find(piece), piece.size(), by), name);
  }
  void in_python(const std::string& script) const {
    testing::python("import sys, h5py, numpy as np\nd = sys.argv[1]\n" + script, folder_.path().string());
  }
};

TEST_F(MaxwellFwi, WritesModelsHistoryAndRecords) {
  ASSERT_EQ(command({"fwi", run_file()}).status, 0);
  in_python(
      "f = h5py.File(d + '/run_fwi/result.h5')\n"
      "assert f.attrs['schema'] == 'sonde.maxwell.inversion/1' and 'iterations = 6' in f.attrs['run_file']\n"
      "assert f['model/eps_r'].shape == (40, 30) and (f['start/eps_r'][:] == 4).all()\n"
      "assert f['kept/stage'][:].tolist() == [1, 2] and (f['kept/eps_r'][1] == f['model/eps_r'][:]).all()\n"
      "o = f['history/objective'][:]; s = f['history/stage'][:]\n"
      "assert o[0] == 1 and o[s == 1][-1] < 0.05 and f['model/eps_r'][20, 14] > 4.1\n"
      "r = f['receivers/data'][:] - f['observed/data'][:]\n"
      "assert np.linalg.norm(r) < 0.2 * np.linalg.norm(f['observed/data'][:])\n"
      "t = np.genfromtxt(d + '/run_fwi/history.csv', delimiter=',', names=True, skip_header=1)\n"
      "assert np.allclose(t['objective'], o, rtol=1e-8)\n"
      "page = open(d + '/run_fwi/report.html').read()\n"
      "assert page.count('data:image/png') == 2 and page.count('<svg') >= 2\n");
  for (const char* name : {"model.png", "gather.png", "misfit.gp", "spectrum.gp"})
    EXPECT_TRUE(fs::exists(file(std::string("run_fwi/") + name))) << name;
}

TEST_F(MaxwellFwi, ItsResultIsAModelToBeginWith) {
  ASSERT_EQ(command({"fwi", run_file()}).status, 0);
  const std::string next = changed("eps_r = 4\nsigma = 0.002\nshape = [40, 30]\nspacing = 0.05\n",
                                   "file = \"run_fwi/result.h5\"\n", "next.toml");
  const Value found = results({"fwi", next, "--set", "inversion.stage.0.iterations=1"});
  in_python(
      "a, b = (h5py.File(d + n)['/'.join(p)][:] for n, p in (('/run_fwi/result.h5', ('model', 'eps_r')), "
      "('/next_fwi/result.h5', ('start', 'eps_r'))))\nassert (a == b).all()\n");
  EXPECT_EQ(found.find("stages")->items().size(), 2U);
}

TEST_F(MaxwellFwi, ContinuesWithTheSameBitsAfterItWasStopped) {
  const std::string twenty = "[[inversion.stage]]\niterations = 20\n";
  const std::string path = run_file(twenty, "run.toml"), whole = file("whole"), broken = file("broken");
  const std::vector<std::string> settings{"--set", "inversion.exit_change=0", "--set", "output.checkpoint_every=1"};
  const auto words = [&](const std::string& folder, bool resume) {
    std::vector<std::string> made{"maxwell", "fwi", path, "-o", folder};
    made.insert(made.end(), settings.begin(), settings.end());
    if (resume) made.emplace_back("--resume");
    return made;
  };
  ASSERT_EQ(testing::run(words(whole, false)).status, 0);
  const Program program(words(broken, false));
  const auto rows = [&] {
    std::ifstream table(broken + "/history.csv");
    return std::count(std::istreambuf_iterator<char>(table), {}, '\n') - 2;  // without note and head
  };
  while (rows() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(program.id(), SIGTERM);
  const Ended ended = program.wait();
  ASSERT_EQ(ended.status, 143) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("--resume continues from"));
  EXPECT_FALSE(fs::exists(broken + "/result.h5"));
  ASSERT_EQ(testing::run(words(broken, true)).status, 0);
  in_python(
      "a, b = (h5py.File(d + '/' + n + '/result.h5') for n in ('whole', 'broken'))\n"
      "for k in ('model/eps_r', 'kept/eps_r', 'history/objective', 'history/evaluations', 'receivers/data'):\n"
      "    assert (a[k][:] == b[k][:]).all(), k\n"
      "assert len(a['history/objective']) == 21\n");
}

TEST_F(MaxwellFwi, ADryRunPlansAndWritesNothing) {
  const std::string path = run_file();
  const std::vector<std::string> before = names();
  const Ended ended = command({"fwi", path, "--dry-run"});
  EXPECT_EQ(ended.status, 0);
  for (const char* word : {"storage", "shots at the same time", "fields for the gradient", "unknowns"})
    EXPECT_THAT(ended.out + ended.err, HasSubstr(word));
  EXPECT_EQ(names(), before);
}

TEST_F(MaxwellFwi, ALimitIsASuccessWithANote) {
  const Ended ended = command({"fwi", run_file(), "--set", "inversion.exit_evaluations=3"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out + ended.err, HasSubstr("the limit of evaluations is reached"));
}

TEST_F(MaxwellFwi, AFirstStepWithoutDescentIsStatusSeven) {
  // A step of this length changes no number.
  const Ended ended = command({"fwi", run_file(), "--set", "inversion.first_change=1e-300"});
  EXPECT_EQ(ended.status, 7);
  EXPECT_THAT(ended.err, HasSubstr("no step along the first gradient lowers the misfit"));
  EXPECT_TRUE(fs::exists(file("run_fwi/result.h5")));  // to look at
}

TEST_F(MaxwellFwi, WrongInputsAreNamed) {
  in_python(
      "np.save(d + '/mask.npy', np.ones((3, 4)))\n"
      "with h5py.File(d + '/records.h5') as a, h5py.File(d + '/nan.h5', 'w') as b:\n"
      "    for k in a: a.copy(k, b)\n"
      "    b.attrs.update(a.attrs); b['receivers/data'][3, 1, 2] = np.nan\n"
      "bytes_ = open(d + '/records.h5', 'rb').read(); open(d + '/cut.h5', 'wb').write(bytes_[:2000])\n");
  const std::string good = run_file();
  const std::string missing = changed("records.h5", "gone.h5", "missing.toml"),
                    none = changed("file = \"records.h5\"\n", "", "none.toml"),
                    not_finite = changed("records.h5", "nan.h5", "nan.toml"),
                    cut = changed("records.h5", "cut.h5", "cut.toml"),
                    other_steps = changed("nt = 300", "nt = 200", "steps.toml"),
                    typing_error = changed("eps_r_bounds", "eps_bounds", "typing.toml"),
                    stage_error = changed("fmax = 100e6", "fmx = 100e6", "stage.toml"),
                    outside = changed("[2, 9]", "[5, 9]", "outside.toml"),
                    mask = changed("[2, 9]\n", "[2, 9]\nmask = \"mask.npy\"\n", "mask.toml");
  for (const Wrong& c : std::vector<Wrong>{
           {{"fwi", missing}, 3, "gone.h5: no such file"},
           {{"fwi", none}, 3, "no data.file: expected records"},
           {{"fwi", not_finite}, 3, "nan.h5"},
           {{"fwi", cut}, 3, "cut.h5"},
           {{"fwi", other_steps}, 3, "nt = 300; the experiment has 200"},
           {{"fwi", typing_error}, 3, "did you mean \"eps_r_bounds\"?"},
           {{"fwi", stage_error}, 3, "did you mean \"fmax\"?"},
           {{"fwi", outside}, 3, "4"},
           {{"fwi", mask}, 3, "inversion.mask: shape (3, 4); the model has (40, 30)"},
           {{"fwi", good, "--set", "inversion.parameters=eps"}, 3, "did you mean \"eps_r\"?"},
           {{"fwi", good, "--set", "storage.bytes_limit_host=1K", "--set", "storage.mode=host"}, 4, "KiB"},
           {{"fwi", good, "--set", "storage.mode=none"}, 3, "storage mode none keeps no fields"},
           {{"fwi", good, "--set", "storage.mode=none", "--dry-run"}, 3, "storage mode none keeps no fields"},
           {{"gradient", good, "--storage-mode", "none", "--dry-run"}, 3, "storage mode none keeps no fields"},
           {{"fwi", good, "--resume"}, 3, "run_fwi/checkpoint.h5: no such file"},
       })
    expect_refused(c);
}

TEST_F(MaxwellFwi, RecordsThatTheStartExplainsAreASuccess) {
  const std::string path = run_file("[[inversion.stage]]\niterations = 2\n");
  ASSERT_EQ(command({"run", path, "-o", file("explained.h5")}).status, 0);
  const Value found = results({"fwi", path, "--set", "data.file=" + file("explained.h5")});
  EXPECT_EQ(found.find("stages")->items()[0].find("objective")->as_real(), 0);
  EXPECT_TRUE(fs::exists(file("run_fwi/misfit.gp")));
}

// Its seal is no secret.
TEST_F(MaxwellFwi, ACheckpointWithOtherPlacesOfModelsIsRefused) {
  const std::string path = run_file();
  ASSERT_EQ(command({"fwi", path, "--set", "output.checkpoint_every=1"}).status, 0);
  in_python(
      "import zlib\n"
      "name = d + '/run_fwi/checkpoint.h5'\n"
      "with h5py.File(name, 'r+') as f:\n"
      "    del f['state/kept_places']; f['state/kept_places'] = np.zeros((len(f['state/kept']), 0), 'i8')\n"
      "b = open(name, 'rb').read()\n"
      "b = b[:b.rfind(b'\\nsonde crc32 ')] if b'\\nsonde crc32 ' in b[-40:] else b\n"
      "open(name, 'wb').write(b + b'\\nsonde crc32 %08x\\n' % zlib.crc32(b))\n");
  const Ended ended = command({"fwi", path, "--resume"});
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("kept_places"));
}

TEST_F(MaxwellFwi, ContinuesWhereItsFilesHaveMoved) {
  ASSERT_EQ(command({"fwi", run_file(), "--set", "output.checkpoint_every=1"}).status, 0);
  const std::string elsewhere = file("elsewhere");
  fs::create_directory(elsewhere);
  for (const char* name : {"run.toml", "records.h5", "run_fwi"}) fs::rename(file(name), elsewhere + "/" + name);
  const Ended ended = command({"fwi", elsewhere + "/run.toml", "--resume", "--set", "output.checkpoint_every=1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("resuming  after"));
}

TEST_F(MaxwellFwi, ACheckpointOfOtherRecordsIsRefused) {
  const std::string path = run_file();
  ASSERT_EQ(command({"fwi", path, "--set", "output.checkpoint_every=1"}).status, 0);
  ASSERT_EQ(command({"run", file("truth.toml"), "--set", "model.eps_r=4.3", "-o", file("records.h5")}).status, 0);
  const Ended ended = command({"fwi", path, "--resume"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("was made with other settings: file = \"records.h5, SHA-256 "));
}

TEST_F(MaxwellFwi, ACheckpointOfOtherSettingsIsRefused) {
  const std::string path = run_file();
  ASSERT_EQ(command({"fwi", path, "--set", "output.checkpoint_every=1"}).status, 0);
  const Ended ended = command({"fwi", path, "--resume", "--set", "inversion.memory=5"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("was made with other settings: memory = 8; now memory = 5"));
}

}  // namespace
}  // namespace sonde
