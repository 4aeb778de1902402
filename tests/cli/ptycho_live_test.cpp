// SPDX-License-Identifier: Apache-2.0
// A run that is watched, paused and ended from a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/browser.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Program;
using PtychoLive = testing::OnSmallScan;

TEST_F(PtychoLive, IsWatchedPausedAndEndedFromTheBrowser) {
  write();
  const Program program({"ptycho", "run", run_file("", "", 1000000), "-o", file("result.h5"), "--live", "0"});
  const std::string url = testing::address_of(program);
  ASSERT_FALSE(url.empty()) << program.error_so_far();
  const std::string output = testing::python(std::string(testing::browser) + R"python(
print([a['name'] for a in page['actions']])
def until(wanted, panel='run'):
    for text in texts():
        assert text['type'] != 'error', text
        if text['type'] == 'event' and text['event'] == 'panel/' + panel and wanted(text['options']): return text['options']
now = until(lambda run: run.get('done', 0) > 1)
errors = until(lambda told: True, 'errors')
print(now['note'], now['state'], now['total'], len(errors['curves'][0]['y']) == len(errors['places']))
def seen(): return {(struct.unpack_from('<H', f, 6)[0], struct.unpack_from('<H', f, 30)[0]) for f in frames}
while len(seen()) < 3:
    kind, data = read()
    if kind == 2: frames.append(data)
kinds = sorted(seen())
phase = next(f for f in frames if struct.unpack_from('<H', f, 6)[0] == 2)
rows, cols, element = struct.unpack_from('<IIB', phase, 20)
print(kinds, rows, cols, element, len(phase) == 64 + 4 * rows * cols)
send({'id': 1, 'command': 'pause'})
at = until(lambda run: run['paused'])['done']
send({'id': 2, 'command': 'stop'})
print('stopping', until(lambda run: run['stopping'])['paused'])
)python",
                                             url);
  EXPECT_THAT(output,
              AllOf(HasSubstr("['pause', 'resume', 'stop', 'set', 'restart']"), HasSubstr("epie running 1000000 True"),
                    // Phase and amplitude of 15 x 15 pixels (8 positions 2 px apart), one mode.
                    HasSubstr("[(2, 0), (2, 1), (100, 0)] 15 15 3 True"), HasSubstr("stopping False")));
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("asked to in the live view"));
  EXPECT_TRUE(has_result());
}

TEST_F(PtychoLive, SettingsThatAreChangedCountAndAreRemembered) {
  write();
  const Program program(
      {"ptycho", "run",
       run_file("[stop]\nrule = \"off\"\n[output]\nlog = \"log.jsonl\"\ncheckpoint_every = 1\n", "", 1000000), "-o",
       file("result.h5"), "--live", "0"});
  const std::string url = testing::address_of(program);
  ASSERT_FALSE(url.empty()) << program.error_so_far();
  const std::string output = testing::python(std::string(testing::browser) + R"python(
def until(wanted, panel='run'):
    for text in texts():
        assert text['type'] != 'error', text
        if text['type'] == 'event' and text['event'] == 'panel/' + panel and wanted(text['options']): return text['options']
first = page['state']['panels']['settings']['settings'][0]
print(first['setting'], first['value'], first['min'], first['max'])
until(lambda run: run.get('done', 0) > 1)
send({'id': 1, 'command': 'set', 'setting': 'engine.0.step_object', 'value': 3})
refused = next(t for t in texts() if t['type'] == 'error')
print(refused['kind'], refused['message'])
send({'id': 2, 'command': 'set', 'setting': 'engine.0.step_object', 'value': 0.125})
change = until(lambda told: told['changes'], 'settings')['changes'][0]
print(change['setting'], change['before'], change['now'], change['after'] >= 2)
then = change['after']
until(lambda run: run.get('done', 0) > then)
send({'id': 3, 'command': 'restart'})
again = until(lambda told: len(told['changes']) == 2, 'settings')['changes'][1]
print('again', again['restart'], again['after'] > then)
until(lambda run: run.get('done', 0) > 0)
send({'id': 4, 'command': 'stop'})
until(lambda run: run['stopping'])
)python",
                                             url);
  EXPECT_THAT(output, AllOf(HasSubstr("engine.0.step_object 0.5 0.0 2.0"),
                            HasSubstr("usage step_object in engine.0: 3 is above"),
                            HasSubstr("engine.0.step_object 0.5 0.125 True"), HasSubstr("again True True")));
  const Ended ended = program.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("engine.0.step_object from 0.5 to 0.125"));
  // The log, the result and the checkpoint tell the same; a run that goes on has it.
  EXPECT_EQ(testing::python(R"python(
import h5py, json, os, sys
file = lambda name: os.path.join(os.path.dirname(sys.argv[1]), name)
lines = [json.loads(line) for line in open(sys.argv[1])]
at, again = (i for i, line in enumerate(lines) if 'change' in line)
change, restart = lines[at]['change'], lines[again]['change']
with h5py.File(file('result.h5')) as f:
    told = json.loads(f['diagnostics'][()])['changes']
    settings = f['settings'][()].decode()
with h5py.File(file('result.ckpt.h5')) as f:
    kept = json.loads(f['state/changes'][()])
    options = f['state/options'][()].decode()
print(lines[at - 1]['iteration'] == change['after'], lines[at + 1]['iteration'] == change['after'] + 1)
print(lines[again - 1]['iteration'] == restart['after'], lines[again + 1]['iteration'])
print(told == kept == [change, restart], 'step_object = 0.125' in settings, 'step_object = 0.125' in options)
)python",
                            file("log.jsonl")),
            "True True\nTrue 1\nTrue True True\n");
  const Ended resumed = testing::run({"ptycho", "resume", file("result.ckpt.h5"), "-o", file("more.h5"), "--dry-run"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

}  // namespace
}  // namespace sonde
