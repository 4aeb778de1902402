// SPDX-License-Identifier: Apache-2.0
// Long verbs of every instrument that are watched, paused and stopped from a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Program;

/// In a folder that has a small measurement too.
class Live : public testing::OnSmallScan {
 protected:
  /// Watches work with panels of these ids until it counts these units, pauses it, sees that it stands still, lets it
  /// go on, and stops it. `more` is Python that looks at `panels`, the newest options of panels by their ids.
  static void watch_pause_and_stop(const Program& program, const std::string& panels, const std::string& units,
                                   const std::string& more = "") {
    const std::string url = testing::address_of(program);
    ASSERT_FALSE(url.empty()) << program.error_so_far();
    const std::string output = testing::python(std::string(testing::browser) + R"python(
import time
print([a['name'] for a in page['actions']])
panels = {}
def until(wanted):
    for text in texts():
        assert text['type'] != 'error', text
        if text['type'] != 'event' or not text['event'].startswith('panel/'): continue
        panels[text['event'][6:]] = text['options']
        run = panels.get('run', {})
        assert not run.get('over'), run
        if wanted(run): return run
def done(): return json.loads(get('/api/state', {'X-Sonde-Secret': secret})[1])['state']['panels']['run'].get('done', 0)
run = until(lambda run: run.get('done', 0) > 0)
print(run['state'], run['units'], run['note'] != '', run['keeps'])
before = run['done']
until(lambda run: run['done'] > before)
send({'id': 1, 'command': 'pause'})
until(lambda run: run['paused'])
# Every thread ends the step that it is at.
for _ in range(100):
    before = done()
    time.sleep(0.5)
    if done() == before: break
print('stands still', done() == before)
send({'id': 2, 'command': 'resume'})
until(lambda run: not run['paused'] and run['done'] > before + 1)
print('goes on')
)python" + more + R"python(
send({'id': 3, 'command': 'stop'})
for text in texts():
    if text['type'] == 'event' and text['event'] == 'panel/run' and text['options']['stopping']: break
print('stopping')
)python",
                                               url);
    EXPECT_THAT(output, AllOf(HasSubstr(panels), HasSubstr("['pause', 'resume', 'stop']"),
                              HasSubstr("running " + units + " True False"), HasSubstr("stands still True"),
                              HasSubstr("goes on"), HasSubstr("stopping")));
    const Ended ended = program.wait();
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("stopped in the browser"));
  }
};

TEST_F(Live, ASimulationOfAScanLeavesNoFile) {
  const Program program({"stem", "simulate", file("long_master.h5"), "--scan-shape", "3000,3000", "--detector-shape",
                         "16,16", "--disk-radius", "4", "--quiet", "--live", "0"});
  watch_pause_and_stop(program, "['run', 'work', 'given']", "frames");
  EXPECT_EQ(testing::names_in(folder_.path()), std::vector<std::string>());
}

TEST_F(Live, AScanShowsItsCoefficients) {
  std::string collisionalities;
  for (int i = 0; i < 2000; ++i) collisionalities += (i > 0 ? "," : "") + std::to_string(1e-3 * (i + 1));
  const Program program({"neoclassical", "scan", "analytic-demo", "--nu-v", collisionalities, "--er-hat",
                         "0,1e-4,2e-4,5e-4,1e-3", "-o", file("scan.h5"), "--set", "grid.n_theta=9", "--set",
                         "grid.n_zeta=9", "--set", "grid.n_xi=12", "--live", "0"});
  watch_pause_and_stop(program, "['run', 'D11', 'D31', 'points', 'work', 'given']", "points", R"python(
d11 = panels['D11']
assert len(d11['curves']) == 5 and len(d11['places']) == 2000 and d11['log'] == {'x': True, 'y': True}, d11
assert any(value is not None and value > 0 for value in d11['curves'][0]['y'])
assert any(value is None for curve in d11['curves'] for value in curve['y'])
assert panels['points']['rows'][0][3] is not None
assert {'name': 'grid.n_xi', 'value': '12'} in panels['given']['facts'], panels['given']
facts = {fact['name']: fact['value'] for fact in panels['work']['facts']}
assert facts['input'] == 'analytic-demo' and facts['device'] == 'cpu' and int(facts['threads']) > 0, facts
)python");
  EXPECT_EQ(testing::names_in(folder_.path()), std::vector<std::string>());
}

TEST_F(Live, ASweepShowsWhatItsTrialsFind) {
  write();
  (void)run_file("[stop]\nrule = \"off\"\n", "", 1000000);
  // The first trial ends soon, the others do not.
  std::ofstream(file("sweep.toml")) << "[sweep]\nrun = \"run.toml\"\noutput = \"out\"\nat_once = 1\n[[vary]]\nname = "
                                       "\"values\"\nsetting = \"engine.0.iterations\"\nvalues = [2, 1000000]\n";
  const Program program({"ptycho", "sweep", file("sweep.toml"), "--live", "0"});
  watch_pause_and_stop(program, "['run', 'scores', 'trials', 'work', 'given']", "iterations", R"python(
assert panels['scores']['curves'][0]['y'][0] > 0 and panels['scores']['curves'][0]['y'][1] is None, panels['scores']
assert panels['trials']['rows'][0][0] == 1 and len(panels['trials']['rows']) == 1, panels['trials']
)python");
  EXPECT_EQ(testing::names_in(folder_.path() / "out"), std::vector<std::string>{"state.json"});
}

TEST_F(Live, AVerbThatIsNotLongHasNoSuchFlag) {
  const Ended ended = testing::run({"ptycho", "init", "scan.h5", "--live", "0"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("unknown flag \"--live\""));
}

TEST_F(Live, APortThatCannotBeIsRefusedBeforeAnyWork) {
  const Program program(
      {"neoclassical", "scan", "analytic-demo", "--nu-v", "1", "-o", file("scan.h5"), "--live", "65536"});
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("--live"), Not(HasSubstr("solved"))));
  EXPECT_FALSE(std::filesystem::exists(file("scan.h5")));
}

}  // namespace
}  // namespace sonde
