// SPDX-License-Identifier: Apache-2.0
// What a client takes away: files that other readers open, and states that come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/engine/io/zip.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/results/moment_images.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/view/page.h"
#include "sonde/instruments/stem/view/shape_text.h"
#include "sonde/instruments/stem/view/snapshot.h"
#include "sonde/instruments/stem/view/state.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/support/budget.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;
using sonde::testing::plenty;
using stem::testing::Client;
using stem::testing::elements;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Exported : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Index seed : {1, 2}) {
      SimulateOptions options;
      options.output = folder_.file("tilt_" + std::to_string(seed) + "_master.h5");
      options.scan_shape = "9,11";
      options.detector_shape = "24,20";
      options.disk_radius = 4;
      options.truth = false;
      options.seed = seed;
      (void)simulate(options);
    }
    page_ = make_page({folder_.path().string()}, options_, plenty());
    client_.emplace(page_);
    wait_until_loaded(*client_, page_);
    (void)client_->ask("set_detector", R"j({"channel": 1, "expr": "haadf"})j");
    image_ = client_->frame(FrameKind::image, 1);
  }
  panel::File file(const std::string& request) { return client_->session->export_file(parse_json(request, "request")); }
  /// The file written into the test's folder.
  std::string saved(const panel::File& file) {
    const std::string path = folder_.file(file.name);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
    return path;
  }
  static std::string text(const panel::File& file) {
    return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
  }
  template <class T>
  static std::vector<T> values(const Array& array) {
    EXPECT_EQ(array.dtype(), dtype_of<T>);
    const auto* first = static_cast<const T*>(array.data());
    return {first, first + array.count()};
  }

  sonde::testing::TemporaryFolder folder_;
  ViewOptions options_{.load = {}, .series = {}, .watch_s = 0};
  panel::Page page_;
  std::optional<Client> client_;
  Frame image_;
};

TEST_F(Exported, ImagesHoldTheNumbersShown) {
  const auto shown = elements<std::uint64_t>(image_);
  const panel::File npy = file(R"j({"what": "image", "format": "npy", "channel": 1})j");
  EXPECT_EQ(npy.name, "tilt_1_haadf.npy");
  const Array array = parse_npy(npy.bytes, "npy");
  EXPECT_EQ(array.shape(), (Shape{9, 11}));
  EXPECT_EQ(values<std::uint64_t>(array), shown);
  const panel::File tiff = file(R"j({"what": "image", "format": "tiff", "channel": 1})j");
  EXPECT_EQ(tiff.media_type, "image/tiff");
  const auto from_tiff = values<std::uint32_t>(read_tiff(saved(tiff)));
  EXPECT_EQ(std::vector<std::uint64_t>(from_tiff.begin(), from_tiff.end()), shown);
  const std::string csv = text(file(R"j({"what": "image", "format": "csv", "channel": 1})j"));
  EXPECT_THAT(csv, ::testing::StartsWith(std::to_string(shown[0]) + "," + std::to_string(shown[1]) + ","));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9);
  // A PNG is a picture: any reader opens it.
  const panel::File png = file(R"j({"what": "image", "format": "png", "channel": 1})j");
  EXPECT_EQ(sonde::testing::python("import sys\nprint(open(sys.argv[1], 'rb').read(8))", saved(png)),
            "b'\\x89PNG\\r\\n\\x1a\\n'\n");
}

TEST(ShortExpression, RoundsNumbersAndNothingElse) {
  EXPECT_EQ(short_expression("circle(31.499999999999996,31.00000000000004,9.5)"), "circle(31.5,31,9.5)");
  EXPECT_EQ(short_expression("segment(1,2,3,4,0,4,-0.7853981633974483)"), "segment(1,2,3,4,0,4,-0.785)");
  EXPECT_EQ(short_expression("annulus(auto,auto,1.5rho,3rho)"), "annulus(auto,auto,1.5rho,3rho)");
  EXPECT_EQ(short_expression("file(mask_v1.23456.npy)"), "file(mask_v1.23456.npy)");
  EXPECT_EQ(short_expression(std::string(100, 'x')), std::string(80, 'x') + "...");
}

TEST_F(Exported, FirstMomentsAreKeptAsTheyAre) {
  // Deflections in mrad are shown, but moments in pixels are what a program goes on with.
  const Dataset scan = load(folder_.file("tilt_1_master.h5"), {}, plenty());
  const Array exact = centre_of_mass(scan, true);
  const auto expected = values<double>(exact);
  (void)client_->ask("set_detector", R"j({"channel": 2, "expr": "com-row"})j");
  EXPECT_NE(elements<double>(client_->frame(FrameKind::image, 2)), expected);
  const panel::File npy = file(R"j({"what": "image", "format": "npy", "channel": 2})j");
  EXPECT_EQ(values<double>(parse_npy(npy.bytes, "npy")), expected);
  const auto from_tiff =
      values<float>(read_tiff(saved(file(R"j({"what": "image", "format": "tiff", "channel": 2})j"))));
  const std::string csv = text(file(R"j({"what": "image", "format": "csv", "channel": 2})j"));
  std::istringstream numbers(csv);
  for (std::size_t p = 0; p < expected.size(); ++p) {
    EXPECT_EQ(from_tiff[p], static_cast<float>(expected[p]));
    double number = 0;
    char comma = 0;
    numbers >> number;
    numbers.get(comma);
    EXPECT_EQ(number, expected[p]);
  }
}

/// A picture of eight bits per channel as numbers, by Python from the description of the format.
struct Picture {
  Index rows = 0, cols = 0;
  std::vector<int> levels;  // rows x cols x 3

  /// Red, green and blue of the middle of a pixel of an image that was enlarged by a whole number.
  [[nodiscard]] std::array<int, 3> of(Index image_rows, Index row, Index col) const {
    const Index zoom = rows / image_rows;
    const auto at = static_cast<std::size_t>(3 * ((row * zoom + zoom / 2) * cols + col * zoom + zoom / 2));
    return {levels[at], levels[at + 1], levels[at + 2]};
  }
};

Picture picture_in(const std::string& path) {
  std::istringstream text(sonde::testing::python(R"(
import sys, zlib
data = open(sys.argv[1], 'rb').read()
cols, rows = int.from_bytes(data[16:20], 'big'), int.from_bytes(data[20:24], 'big')
packed, at = b'', 8
while at < len(data):
    length = int.from_bytes(data[at:at + 4], 'big')
    packed += data[at + 8:at + 8 + length] if data[at + 4:at + 8] == b'IDAT' else b''
    at += 12 + length
lines, above, values = zlib.decompress(packed), [0] * (3 * cols), []
for r in range(rows):
    kind, *line = lines[r * (3 * cols + 1):(r + 1) * (3 * cols + 1)]
    for i in range(3 * cols):
        left, corner = (line[i - 3], above[i - 3]) if i > 2 else (0, 0)
        paeth = min((left, above[i], corner), key=lambda v: abs(left + above[i] - corner - v))
        line[i] = (line[i] + [0, left, above[i], (left + above[i]) // 2, paeth][kind]) % 256
    above = line
    values += line
print(rows, cols, *values)
)",
                                                 path));
  Picture picture;
  text >> picture.rows >> picture.cols;
  for (int level = 0; text >> level;) picture.levels.push_back(level);
  EXPECT_EQ(picture.levels.size(), static_cast<std::size_t>(3 * picture.rows * picture.cols));
  return picture;
}

TEST_F(Exported, PicturesOfDeflectionsHaveTwoColoursAboutZero) {
  (void)client_->ask("set_detector", R"j({"channel": 2, "expr": "com-col"})j");
  const auto shown = elements<double>(client_->frame(FrameKind::image, 2));
  const Picture picture = picture_in(saved(file(R"j({"what": "image", "format": "png", "channel": 2})j")));
  const auto [least, most] = std::minmax_element(shown.begin(), shown.end());
  ASSERT_LT(*least, 0);
  ASSERT_GT(*most, 0);
  const Index low = least - shown.begin(), high = most - shown.begin();
  const auto red = picture.of(9, low / 11, low % 11), blue = picture.of(9, high / 11, high % 11);
  EXPECT_GT(red[0], red[2]);
  EXPECT_GT(blue[2], blue[0]);
  // A colour bar stands to the right of the image.
  EXPECT_GT(picture.cols, picture.rows / 9 * 11);
}

TEST_F(Exported, PicturesOfPatternsAreSeen) {
  (void)client_->ask("set_position", R"j({"row": 4, "col": 3})j");
  const auto counts = elements<double>(client_->frame(FrameKind::pattern));
  const Picture picture = picture_in(saved(file(R"j({"what": "pattern", "format": "png"})j")));
  // On a logarithmic scale a tenth of the largest count is in the upper third of the colours, far from black.
  const double most = *std::max_element(counts.begin(), counts.end());
  for (Index q = 0; q < 24 * 20; ++q) {
    const double value = counts[static_cast<std::size_t>(q)];
    const auto [r, g, b] = picture.of(24, q / 20, q % 20);
    if (value >= 0.1 * most) {
      EXPECT_GT(r + g + b, 200) << "pixel " << q << " of " << value;
    }
  }
}

// 16 frames, four of whose bins hold 2^26 counts and are only marked, and a disk without an edge.
TEST(RealViewed, SpoiltBinsNeitherHideThePatternNorTheDisk) {
  SONDE_NEED_DATA(data);
  ViewOptions options;
  options.watch_s = 0;
  const std::string master = (data / "stem/arina-binned/test_arina_master.h5").string();
  const panel::Page page = make_page({master}, options, plenty());
  Client client(page);
  wait_until_loaded(client, page);
  // The pixels above mean + standard deviation, as for the command line; by the edge the radius would be 1.0.
  const Value centre = client.ask("find_centre");
  EXPECT_GT(centre.find("radius")->as_real(), 1.5);
  const DetectorImage moments{"com-row", "", 0, 0, Array(Device::cpu(), {4, 4}, DType::f64)};
  const Depiction by_command = depiction_of(load(master, {}, plenty()), moments, {}, CentreMethod::edge);
  EXPECT_EQ(by_command.record.find("deflection")->find("from")->find("row")->as_real(), centre.find("row")->as_real());
  const Value state = page.state();
  const Value& bad = *state.find("datasets")->items().at(0).find("bad_pixels");
  ASSERT_EQ(bad.size(), 4u);
  auto counts =
      elements<double>(client.show(FrameKind::reduced_pattern, "set_reduction", R"j({"reduction": "mean"})j"));
  for (const Value& pixel : bad.items())
    counts[static_cast<std::size_t>(24 * pixel.items()[0].as_whole() + pixel.items()[1].as_whole())] = 0;
  const panel::File png =
      client.session->export_file(parse_json(R"j({"what": "region", "format": "png"})j", "request"));
  const sonde::testing::TemporaryFolder folder;
  std::ofstream(folder.file("mean.png"), std::ios::binary)
      .write(reinterpret_cast<const char*>(png.bytes.data()), static_cast<std::streamsize>(png.bytes.size()));
  const Picture picture = picture_in(folder.file("mean.png"));
  const double most = *std::max_element(counts.begin(), counts.end());
  for (Index q = 0; q < 24 * 24; ++q)
    if (counts[static_cast<std::size_t>(q)] >= 0.1 * most) {
      const auto [r, g, b] = picture.of(24, q / 24, q % 24);
      EXPECT_GT(r + g + b, 200) << "pixel " << q;
    }
}

TEST_F(Exported, PatternsAndSpectraToo) {
  (void)client_->ask("set_position", R"j({"row": 4, "col": 3})j");
  const auto pattern = elements<std::uint64_t>(client_->frame(FrameKind::pattern));
  EXPECT_EQ(values<std::uint64_t>(parse_npy(file(R"j({"what": "pattern", "format": "npy"})j").bytes, "npy")), pattern);
  (void)client_->ask("set_reduction", R"j({"reduction": "mean"})j");
  const auto mean = elements<float>(client_->frame(FrameKind::reduced_pattern));
  EXPECT_EQ(values<float>(parse_npy(file(R"j({"what": "region", "format": "npy"})j").bytes, "npy")), mean);
  (void)client_->ask("request_fft", R"j({"channel": 1, "window": "hann"})j");
  const auto spectrum = elements<float>(client_->frame(FrameKind::spectrum, 1));
  const Array array = parse_npy(file(R"j({"what": "spectrum", "format": "npy", "channel": 1})j").bytes, "npy");
  EXPECT_EQ(values<float>(array), spectrum);
}

TEST_F(Exported, ProfilesAreTables) {
  (void)client_->ask("line_profile", R"j({"panel": "image", "channel": 1, "p0": [2, 0], "p1": [2, 10]})j");
  const auto profile = elements<float>(client_->frame(FrameKind::profile, 1));
  const panel::File csv = file(R"j({"what": "profile", "format": "csv"})j");
  EXPECT_EQ(sonde::testing::python("import sys, numpy as np\n"
                                   "t = np.genfromtxt(sys.argv[1], delimiter=',', names=True)\n"
                                   "print(t.dtype.names, t['distance_nm'][-1], int(t['value'].sum()))",
                                   saved(csv)),
            "('distance_nm', 'value') 5.0 " +
                std::to_string(static_cast<Index>(std::accumulate(profile.begin(), profile.end(), 0.0))) + "\n");
  const Value record = parse_json(text(file(R"j({"what": "profile", "format": "json"})j")), "profile");
  EXPECT_EQ(record.find("profile")->find("detector")->as_text(), "haadf");
  EXPECT_EQ(record.find("profile")->find("value")->size(), profile.size());
}

TEST_F(Exported, AFileIsAFrameOfItsCommand) {
  const Value reply = client_->ask("export", R"j({"what": "image", "format": "csv", "channel": 1})j");
  const Frame frame = client_->frame(FrameKind::file);
  EXPECT_EQ(reply.find("bytes")->as_whole(), static_cast<Index>(frame.payload.size()));
  EXPECT_EQ(reply.find("name")->as_text(), "tilt_1_haadf.csv");
  const panel::File same = file(R"j({"what": "image", "format": "csv", "channel": 1})j");
  EXPECT_TRUE(std::equal(frame.payload.begin(), frame.payload.end(), same.bytes.begin(), same.bytes.end()));
}

TEST_F(Exported, SeriesNeedAllTheirImages) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)file(R"j({"what": "series", "format": "npy", "channel": 1})j"); }),
              AllOf(HasSubstr("item 1 of 2 is not in memory"), HasSubstr("play the series")));
  (void)client_->ask("play", R"j({"playing": true})j");
  client_->outlet->wait([](const auto& frames, const auto&) { return !frames.empty(); });
  const Array stack = parse_npy(file(R"j({"what": "series", "format": "npy", "channel": 1})j").bytes, "npy");
  EXPECT_EQ(stack.shape(), (Shape{2, 9, 11}));
  const auto all = values<std::uint64_t>(stack);
  EXPECT_EQ(std::vector<std::uint64_t>(all.begin(), all.begin() + 99), elements<std::uint64_t>(image_));
  (void)client_->ask("set_item", R"j({"item": 1})j");
  EXPECT_EQ(std::vector<std::uint64_t>(all.begin() + 99, all.end()),
            elements<std::uint64_t>(client_->frame(FrameKind::image, 1)));
  const ZipReader zip(saved(file(R"j({"what": "series", "format": "zip", "channel": 1})j")));
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip.entries()) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("0000_tilt_1.png", "0001_tilt_2.png"));
}

TEST_F(Exported, ASnapshotStandsAlone) {
  const std::string html = text(file(R"j({"what": "snapshot", "format": "html"})j"));
  EXPECT_THAT(html, AllOf(HasSubstr("<title>tilt_1</title>"), HasSubstr("alt=\"haadf\""), HasSubstr("data:image/png")));
  EXPECT_THAT(html, ::testing::Not(HasSubstr("src=\"http")));
  const std::size_t first = html.find("id=\"state\">") + 11;
  const Value state = parse_json(html.substr(first, html.find("</script>", first) - first), "state");
  EXPECT_EQ(state.find("schema")->as_text(), state_schema);
}

TEST_F(Exported, WrongRequestsAreErrors) {
  const auto error = [&](const char* request) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)file(request); });
  };
  EXPECT_THAT(error(R"j({"what": "image", "format": "gif", "channel": 1})j"),
              HasSubstr("known are png, tiff, npy and csv"));
  EXPECT_THAT(error(R"j({"what": "movie", "format": "npy"})j"), HasSubstr("\"what\" is \"movie\""));
  EXPECT_THAT(error(R"j({"what": "image", "format": "npy", "channel": 3})j"), HasSubstr("channel 3 has no detector"));
  EXPECT_THAT(error(R"j({"what": "profile", "format": "csv"})j"), HasSubstr("no line profile was taken"));
  EXPECT_THAT(error(R"j({"format": "csv"})j"), HasSubstr("no \"what\" was given"));
}

TEST_F(Exported, AStateRestoresEverything) {
  (void)client_->ask("set_detector", R"j({"channel": 6, "shape": "annulus", "params": [11.1, 9.7, 2, 6.3]})j");
  (void)client_->ask("request_fft", R"j({"channel": 6, "window": "hann", "on": true})j");
  (void)client_->ask("set_position", R"j({"row": 7, "col": 2})j");
  (void)client_->ask("set_scan_roi", R"j({"shape": "rect", "params": [1, 1, 5, 6]})j");
  (void)client_->ask("set_reduction", R"j({"reduction": "max"})j");
  (void)client_->ask("set_centre", R"j({"row": 10.5, "col": 9.25, "radius": 3.5})j");
  (void)client_->ask("set_item", R"j({"item": 0})j");
  const auto frames_of = [](std::vector<Frame> frames) {
    std::vector<std::vector<double>> all;
    for (const Frame& frame : frames) all.push_back(elements<double>(frame));
    return all;
  };
  const auto before = frames_of(client_->outlet->take_frames());
  ASSERT_EQ(before.size(), 5u);
  const Value reply = client_->ask("save_state", R"j({"view": {"map": "magma", "zoom": [1, 2.5]}})j");
  const std::string state = to_json(*reply.find("state"), -1);

  Client other(page_);
  const Value loaded = other.ask("load_state", "{\"state\": " + state + "}");
  EXPECT_EQ(loaded.find("view")->find("map")->as_text(), "magma");
  EXPECT_EQ(frames_of(other.outlet->take_frames()), before);
  EXPECT_EQ(to_json(*other.ask("save_state", R"j({"view": {"map": "magma", "zoom": [1, 2.5]}})j").find("state"), -1),
            state);

  // The command line finds what it needs.
  const StateScan scan = scan_of_state(parse_json(state, "state"), "state.json");
  EXPECT_EQ(scan.path, folder_.file("tilt_1_master.h5"));
  EXPECT_THAT(scan.detectors.detector, ElementsAre("haadf", "annulus(11.1,9.7,2,6.3)"));
  EXPECT_EQ(scan.detectors.centre, "10.5,9.25");
  EXPECT_EQ(scan.detectors.radius, 3.5);
  EXPECT_EQ(scan.load.layout, LayoutChoice::pixel);
}

TEST_F(Exported, AStateThatMakesNoSenseChangesNothing) {
  const Value saved = client_->ask("save_state");
  EXPECT_TRUE(saved.find("state")->find("view")->is_null());
  const auto wrong = [&](const char* key, Value value, ErrorKind kind = ErrorKind::bad_input) {
    Value state = *saved.find("state");
    state[key] = std::move(value);
    return sonde::testing::error_of(kind,
                                    [&] { (void)client_->ask("load_state", "{\"state\": " + to_json(state) + "}"); });
  };
  EXPECT_THAT(wrong("schema", "sonde.view.state/9", ErrorKind::bad_file),
              HasSubstr("schema is not sonde.view.state/1"));
  EXPECT_THAT(wrong("dataset", 5), HasSubstr("the state names data set 5 of 1"));
  EXPECT_THAT(wrong("reduction", "mode"), HasSubstr("\"mode\" is not a reduction"));
  EXPECT_THAT(wrong("region", "circle(1,2", ErrorKind::usage), HasSubstr("expected a comma or )"));
  EXPECT_THAT(wrong("position", 3), HasSubstr("list"));
  Value elsewhere = *saved.find("state");
  Value dataset = elsewhere.find("datasets")->items().at(0);
  dataset["source"] = "/etc";
  Value datasets = Value::list();
  datasets.push_back(dataset);
  EXPECT_THAT(wrong("datasets", datasets), HasSubstr("/etc: not below a path that was given at start"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)scan_of_state(Value::object(), "x.json"); }),
              HasSubstr("x.json: no \"schema\""));
  (void)client_->ask("set_item", R"j({"item": 0})j");
  EXPECT_EQ(elements<double>(client_->frame(FrameKind::image, 1)), elements<double>(image_));
}

}  // namespace
}  // namespace sonde::stem
