// SPDX-License-Identifier: Apache-2.0
// `sonde view` as a person starts it, seen by a client of another make: Python's standard library.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/npz.h"
#include "sonde/instruments/stem/view/page.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/cli/browser.h"
#include "tests/cli/stem.h"
#include "tests/support/places.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::browser;
using testing::Ended;
using ::testing::HasSubstr;
using testing::make_small_scan;
using testing::Program;
using testing::TemporaryFolder;

/// A started viewer; its address is read from the first line of --json, which comes when the port is taken.
class Viewer {
 public:
  explicit Viewer(std::vector<std::string> arguments, void (*before)() = nullptr) {
    const std::string pipe = folder_.file("out");
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    arguments.insert(arguments.begin(), "view");
    arguments.insert(arguments.end(), {"--json", "--no-open"});
    program_.emplace(arguments, before, pipe);
    std::ifstream out(pipe);
    std::string line;
    std::getline(out, line);
    const Value first = line.empty() ? Value::object() : parse_json(line, "the first line");
    if (const Value* url = first.find("url")) url_ = url->as_text();
    EXPECT_FALSE(url_.empty()) << program_->error_so_far();
    rest_ = std::move(out);
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] pid_t id() const { return program_->id(); }
  Ended end(int signal) {
    kill(program_->id(), signal);
    return program_->wait();
  }

 private:
  TemporaryFolder folder_;
  std::optional<Program> program_;
  std::string url_;
  std::ifstream rest_;  // the program would die of a closed pipe
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve terabytes of addresses themselves
TEST(View, WorksWithFewerThreadsWhereAddressesAreShort) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  // Stacks of 8 MiB: there is room for some of the server's threads and not for all.
  Viewer viewer({master, "--threads", "2"}, [] {
    constexpr rlim_t bytes = rlim_t{300000} << 10;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    alarm(120);  // a server that does not end would keep the test
  });
  const Ended ended = viewer.end(SIGINT);
  EXPECT_EQ(ended.status, 130) << ended.err;
}
#endif

TEST(View, ShowsAScanToABrowser) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const stem::Dataset scan = stem::load(master, {}, Budget(std::size_t{1} << 30, "test"));
  const auto* total = static_cast<const std::uint64_t*>(scan.moments().total.data());
  Viewer viewer({master});
  const std::string output = testing::python(std::string(browser) + R"python(
state = page['state']['datasets'][0]
incoming = texts()
while not state['items'][0]['held']:  # else it was loaded before this client came
    text = next(incoming)
    if text['type'] == 'event' and text['event'] == 'datasets': state = text['datasets'][0]
    assert 'error' not in state
print(state['label'], state['scan'], state['detector'])
frames.clear()
send({'id': 7, 'command': 'set_detector', 'channel': 2, 'expr': 'all'})
reply = next(t for t in texts() if t.get('id') == 7)
print(reply['type'], reply['expr'], reply['path'])
def wanted(frame): return struct.unpack_from('<H', frame, 6)[0] == 2 and struct.unpack_from('<I', frame, 8)[0] == 7
while not any(wanted(frame) for frame in frames):
    kind, data = read()
    if kind == 2: frames.append(data)
frame = next(frame for frame in frames if wanted(frame))
rows, cols, element = struct.unpack_from('<IIB', frame, 20)
print(frame[:4], rows, cols, *struct.unpack_from('<%d%s' % (rows * cols, 'BHIfQ'[element]), frame, 64)[:3])
send({'id': 8, 'command': 'set_position', 'row': 99, 'col': 0})
print(next(t for t in texts() if t.get('id') == 8))
)python",
                                             viewer.url());
  EXPECT_THAT(output, HasSubstr("entered 200 None"));
  EXPECT_THAT(output, HasSubstr("without secret 403"));
  EXPECT_THAT(output, HasSubstr("with secret 200"));
  EXPECT_THAT(output, HasSubstr("healthz 200"));
  EXPECT_THAT(output, HasSubstr("page 200 True"));
  EXPECT_THAT(
      output,
      HasSubstr("page sonde.view.v1 stem ['datasets', 'memory', 'image', 'pattern', 'spectrum', 'profile', 'compare', "
                "'detectors', 'centre', 'region', 'arrangement', 'data', 'series', 'export', 'keys']"));
  EXPECT_THAT(output, HasSubstr("scan [12, 10] [32, 40]"));
  EXPECT_THAT(output, HasSubstr("reply all "));
  EXPECT_THAT(output, HasSubstr("b'SND1' 12 10 " + std::to_string(total[0]) + " " + std::to_string(total[1]) + " " +
                                std::to_string(total[2])));
  EXPECT_THAT(output, HasSubstr("\"row\" is 99, expected 0 to 11"));
  const Ended ended = viewer.end(SIGINT);
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.err, HasSubstr("http://127.0.0.1:"));
}

// A minute of it by hand: tools/flood_viewer URL --pid PID --end
TEST(View, AnswersThroughAFloodGivesMemoryBackAndEndsInTheMiddleOfWork) {
  const TemporaryFolder folder;
  Viewer viewer({make_small_scan(folder)});
#ifdef __SANITIZE_ADDRESS__  // which keeps what was freed for a while
  const char* const memory = ", '--any-memory'";
#else
  const char* const memory = "";
#endif
  const std::string output = testing::python(std::string("import subprocess, sys\n"
                                                         "url, pid = sys.argv[1].split()\n"
                                                         "sys.exit(subprocess.run([sys.executable, '") +
                                                 testing::source_folder() +
                                                 "/tools/flood_viewer', url, '--seconds', '3', '--pid', pid, '--end'" +
                                                 memory + "]).returncode)\n",
                                             viewer.url() + " " + std::to_string(viewer.id()));
  EXPECT_THAT(output, HasSubstr("\"problems\": []"));
  EXPECT_EQ(viewer.end(SIGINT).status, 130);
}

TEST(View, ShowsAReport) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), report = folder.file("run.json");
  EXPECT_EQ(testing::run({"stem", "load", master, "--report", report, "--quiet"}).status, 0);
  Viewer viewer({report});
  const std::string output = testing::python(std::string(browser), viewer.url());
  EXPECT_THAT(output, HasSubstr("page sonde.view.v1 report"));
  EXPECT_EQ(viewer.end(SIGTERM).status, 143);
}

TEST(View, ShowsTheNumbersOfAResult) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), summary = folder.file("summary.h5");
  EXPECT_EQ(testing::run({"stem", "load", master, "-o", summary, "--quiet"}).status, 0);
  const stem::Dataset scan = stem::load(master, {}, Budget(std::size_t{1} << 30, "test"));
  const auto* total = static_cast<const std::uint64_t*>(scan.moments().total.data());
  Viewer viewer({summary});
  const std::string output = testing::python(std::string(browser) + R"python(
panel = next(p for p in page['panels'] if p['title'] == 'scan/total')
print(panel['type'], [panel['options'][k]['name'] for k in ('rows', 'cols')], panel['options']['parts'])
frames.clear()
send({'id': 7, 'command': 'show', 'panel': panel['options']['panel']})
print(next(t for t in texts() if t.get('id') == 7)['type'])
while not frames:
    kind, data = read()
    if kind == 2: frames.append(data)
rows, cols, element = struct.unpack_from('<IIB', frames[0], 20)
print('frame', rows, cols, element, *map(int, struct.unpack_from('<3f', frames[0], 64)))
send({'id': 8, 'command': 'show', 'panel': 99})
print(next(t for t in texts() if t.get('id') == 8))
)python",
                                             viewer.url());
  EXPECT_THAT(output, HasSubstr("page sonde.view.v1 panels"));
  EXPECT_THAT(output, HasSubstr("picture ['scan row', 'scan column'] [{'name': '', 'unit': 'counts', 'channel': "));
  EXPECT_THAT(output, HasSubstr("frame 12 10 3 " + std::to_string(total[0]) + " " + std::to_string(total[1]) + " " +
                                std::to_string(total[2])));
  EXPECT_THAT(output, HasSubstr("expected a panel from 0 to"));
  EXPECT_EQ(viewer.end(SIGTERM).status, 143);
}

TEST(View, RefusesFilesThatNoVerbWroteAndSettingsOfScansForResults) {
  const TemporaryFolder folder;
  const std::string foreign = folder.file("foreign.h5"), archive = folder.file("foreign.npz"),
                    summary = folder.file("summary.h5");
  {
    Hdf5Writer writer(foreign);
    writer.array("/spectrum", Array::zeros(Device::cpu(), {16}, DType::f64));
    writer.finish();
  }
  write_npz(archive, std::vector<NamedArray>{});
  for (const std::string& path : {foreign, archive}) {
    const Ended ended = testing::run({"view", path, "--no-open"});
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("error: " + path));
    EXPECT_EQ(ended.err.find("error:"), ended.err.rfind("error:")) << ended.err;
  }
  EXPECT_EQ(testing::run({"stem", "load", make_small_scan(folder), "-o", summary, "--quiet"}).status, 0);
  const Ended ended = testing::run({"view", summary, "--no-open", "--det-bin", "2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--det-bin is a setting of scans, but " + summary + " is a result"));
}

TEST(View, BeyondTheLoopbackTheWarningHasTheSshLineInLinesOfItsOwn) {
  const TemporaryFolder folder;
  Viewer viewer({make_small_scan(folder), "--host", "0", "--allow-host", "localhost"});
  EXPECT_THAT(viewer.url(), HasSubstr("http://localhost:"));
  const Ended ended = viewer.end(SIGINT);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("warning: listening on 0.0.0.0:"), HasSubstr("\n  hint: leave --host out"),
                               HasSubstr("\n        ssh -N -L ")));
}

TEST(View, SavesAStateFromWhichTheCommandLineRepeatsTheImages) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  stem::ViewOptions options;
  options.load.det_bin = "2";
  options.load.scan_bin = 2;
  options.watch_s = 0;
  const panel::Page page = stem::make_page({master}, options, Budget(std::size_t{1} << 30, "test"));
  stem::testing::Client client(page);
  stem::testing::wait_until_loaded(client, page);
  // Dragged there, so that the image is the sum of many steps.
  for (int step = 0; step < 20; ++step)
    (void)client.ask("set_detector", R"j({"channel": 3, "shape": "annulus", "params": [)j" +
                                         std::to_string(6 + 0.1 * step) + ", 9.3, 1.5, 5]}");
  const std::string state = folder.file("state.json");
  const auto save = [&] { std::ofstream(state) << to_json(*client.ask("save_state").find("state")); };
  const auto image_of = [&](int channel) {
    const panel::File file = client.session->export_file(
        parse_json(R"j({"what": "image", "format": "npy", "channel": )j" + std::to_string(channel) + "}", "request"));
    return parse_npy(file.bytes, "export");
  };
  const auto equal = [](const Array& a, const Array& b) {
    return a.shape() == b.shape() && a.dtype() == b.dtype() &&
           std::memcmp(a.data(), b.data(), a.allocated_bytes()) == 0;
  };
  save();
  Ended ended = testing::run({"stem", "image", "--state", state, "-o", folder.file("one.npy"), "--quiet"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(equal(read_npy(folder.file("one.npy")), image_of(3)));

  // The beam found in the viewer is that of the command line, and one that was given counts.
  (void)client.ask("set_detector", R"j({"channel": 3, "expr": null})j");
  for (const char* beam : {"", R"j({"row": 7.25, "col": 9.5, "radius": 2.125})j"}) {
    if (*beam != '\0') (void)client.ask("set_centre", beam);
    (void)client.ask("set_detector", R"j({"channel": 0, "expr": "adf & !rect(0,0,5,20)"})j");
    save();
    ended = testing::run({"stem", "image", "--state", state, "-o", folder.file("adf.npy"), "--quiet"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_TRUE(equal(read_npy(folder.file("adf.npy")), image_of(0))) << beam;
  }
  // Several detectors are several files.
  (void)client.ask("set_detector", R"j({"channel": 1, "expr": "bf"})j");
  save();
  ended = testing::run({"stem", "image", "--state", state, "-o", folder.file("all/"), "--quiet"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(testing::names_in(folder.path() / "all").size(), 4u);  // two images with their records

  ended = testing::run({"stem", "image", "--state", state, "-d", "bf", "-o", folder.file("x.npy")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--state takes detectors and loading from the record, but --detector is given"));
  stem::SimulateOptions other = testing::small_scan(master);
  other.seed = 2;
  (void)stem::simulate(other);  // in place of the first
  ended = testing::run({"stem", "image", "--state", state, "-o", folder.file("all/")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("the frames differ from those of " + state));
}

TEST(View, WrongInputEndsBeforeAnythingIsServed) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  std::ofstream(folder.file("foreign_master.h5")) << "no scan";
  std::ofstream(folder.file("other.json")) << R"({"schema": "something/1"})";
  struct Wrong {
    std::vector<std::string> arguments;
    int status;
    const char* words;
  };
  for (const Wrong& wrong : {
           Wrong{{}, 2, "input"},
           {{folder.file("nothing_master.h5")}, 3, "nothing_master.h5: no such file"},
           {{folder.file("foreign_master.h5")}, 3, "foreign_master.h5"},
           {{folder.file("other.json")}, 3, "other.json"},
           {{folder.file("nothing.json")}, 3, "nothing.json"},
           {{master, "--port", "70000"}, 2, "70000"},
           {{master, "--port", "-1"}, 2, "-1"},
           {{master, "--port", "web"}, 2, "web"},
           {{master, "--token", "short"}, 2, "token"},
           {{master, "--host", "0.0.0.0"}, 2, "no browser can ask for this address"},
           {{master, "--host", "no.such.host.invalid"}, 5, "no.such.host.invalid"},
           {{master, "--det-bin", "99"}, 3, "99"},
           {{master, "--memory", "100K"}, 4, "smallest need"},
           {{folder.file("other.json"), "--det-bin", "2"}, 2, "--det-bin is a setting of scans"},
       }) {
    std::vector<std::string> arguments = {"view", "--no-open", "--quiet"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    SCOPED_TRACE(wrong.words);
    const Ended ended = testing::run(arguments);
    EXPECT_EQ(ended.status, wrong.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(wrong.words));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(View, APortInUseIsNamed) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(other, 1), 0);
  ASSERT_EQ(getsockname(other, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Ended ended = testing::run({"view", master, "--no-open", "--port", port});
  EXPECT_EQ(ended.status, 5) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(port));
  close(other);
}

TEST(View, ADryRunServesNothing) {
  const TemporaryFolder folder;
  const Ended ended = testing::run({"view", make_small_scan(folder), "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("port"), HasSubstr("the estimate before decoding")));
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("http://")));
}

}  // namespace
}  // namespace sonde
