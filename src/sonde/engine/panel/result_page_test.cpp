// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/result_page.h"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>
#include <numbers>
#include <stdexcept>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/engine/io/npz.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::panel {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// What a client of the page gets.
class Heard final : public Outlet {
 public:
  void send(Frame frame) override { frames.push_back(std::move(frame)); }
  void reply(const Command&, Value result) override { replies.push_back(std::move(result)); }
  void event(std::string_view name, Value what) override { events.emplace_back(name, std::move(what)); }
  [[nodiscard]] std::vector<float> values(std::size_t frame) const {
    std::vector<float> numbers(frames.at(frame).payload.size() / sizeof(float));
    std::memcpy(numbers.data(), frames.at(frame).payload.data(), frames.at(frame).payload.size());
    return numbers;
  }
  std::vector<Frame> frames;
  std::vector<Value> replies;
  std::vector<std::pair<std::string, Value>> events;
};

/// Writes a result, opens it, and asks for panels.
class ResultPage : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::shared_ptr<const StoredResult> open(const std::string& name,
                                                         const Budget& budget = plenty()) const {
    auto result = StoredResult::open(file(name), budget);
    return result ? std::make_shared<const StoredResult>(*std::move(result)) : nullptr;
  }
  static const Panel& panel(const Page& page, const std::string& title) {
    for (const Panel& each : page.panels)
      if (each.title == title) return each;
    throw std::runtime_error("no panel " + title);
  }
  static std::shared_ptr<Heard> show(const Page& page, const std::string& title, std::vector<Index> index = {}) {
    auto heard = std::make_shared<Heard>();
    Command command{.id = 7, .name = "show"};
    command.arguments["panel"] = *panel(page, title).options.find("panel");
    command.arguments["index"] = Value(index);
    page.open(heard)->run(command);
    return heard;
  }
  static std::string fact(const Page& page, const std::string& name) {
    for (const Panel& each : page.panels)
      if (const Value* facts = each.options.find("facts"))
        for (const Value& one : facts->items())
          if (text_at(one, "name") == name) return text_at(one, "value");
    return "";
  }

  TemporaryFolder folder_;
};

/// Numbers 0, 1, 2, ...
Array ramp(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return Array::from(values, shape);
}

Hdf5Writer writer_of(const std::string& path) {
  Hdf5Writer writer(path);
  writer.attribute("/", "schema", std::string("sonde.test.result/1"));
  return writer;
}

TEST_F(ResultPage, TakesAxesAndUnitsOfHdf5FromLabelsPixelSizesAndArraysOfTheirNames) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/object", ramp({2, 9, 10}));
  writer.describe("/object", {"slice", "row", "column"}, "rad");
  writer.attribute("/object", "pixel_size_A", Array::from(std::vector<double>{0.5, 0.25}, Shape{2}));
  writer.array("/D11", ramp({6}));
  writer.describe("/D11", {"nu"});
  writer.array("/nu", Array::from(std::vector<double>{1, 2, 4, 8, 16, 32}, Shape{6}));
  writer.describe("/nu", {"nu"}, "m^-1");
  writer.finish();

  const auto result = open("a.h5");
  ASSERT_NE(result, nullptr);
  // The places of an axis are no panel of their own.
  ASSERT_EQ(result->quantities().size(), 2u);
  const Quantity &d11 = result->quantities()[0], &object = result->quantities()[1];
  EXPECT_EQ(object.unit, "rad");
  EXPECT_EQ(object.axes[0].name, "slice");
  EXPECT_EQ(object.axes[1].step, 0.5);
  EXPECT_EQ(object.axes[2].step, 0.25);
  EXPECT_EQ(object.axes[2].unit, "\u00c5");
  EXPECT_THAT(d11.axes[0].places, ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_EQ(d11.axes[0].unit, "m^-1");
}

TEST_F(ResultPage, AnAxisOfOneElementIsNoSideOfAPicture) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/Ey", ramp({3, 9, 1, 10}));
  writer.describe("/Ey", {"time", "z", "y", "x"}, "V/m");
  writer.finish();

  const Page page = result_page(open("a.h5"));
  const Value& options = panel(page, "Ey").options;
  EXPECT_EQ(options.find("rows")->find("name")->as_text(), "z");
  EXPECT_EQ(options.find("cols")->find("name")->as_text(), "x");
  ASSERT_EQ(options.find("sliders")->size(), 1u);
  EXPECT_EQ(options.find("sliders")->items()[0].find("name")->as_text(), "time");
  const auto heard = show(page, "Ey", {2, 0, 0, 0});
  EXPECT_EQ(heard->frames.at(0).rows, 9u);
  EXPECT_EQ(heard->values(0).front(), 2 * 90);
}

Contents contents_of_a_scan() {
  Contents contents;
  contents.attribute("schema", std::string("sonde.test.result/1"));
  contents.add("rho", {"rho"}, ramp({5}));
  contents.add("nu", {"nu"}, Array::from(std::vector<double>{1, 10, 100, 1000, 1e4, 1e5}, Shape{6}));
  contents.add("D11", {"rho", "nu"}, ramp({5, 6})).unit("m");
  contents.add("iota", 0.5);
  contents.add_text("path", "dense");
  return contents;
}

class EachNetcdf : public ResultPage, public ::testing::WithParamInterface<NetcdfFormat> {};

TEST_P(EachNetcdf, NamesItsDimensionsAndTheirPlaces) {
  write_netcdf(file("a.nc"), contents_of_a_scan(), GetParam());
  const auto result = open("a.nc");
  ASSERT_NE(result, nullptr);
  ASSERT_EQ(result->quantities().size(), 1u);
  const Quantity& d11 = result->quantities()[0];
  EXPECT_EQ(d11.name, "D11");
  EXPECT_EQ(d11.unit, "m");
  EXPECT_EQ(d11.axes[0].name, "rho");
  EXPECT_EQ(d11.axes[1].name, "nu");
  EXPECT_THAT(d11.axes[1].places, ElementsAre(1, 10, 100, 1000, 1e4, 1e5));
  const Page page = result_page(result);
  EXPECT_EQ(fact(page, "iota"), "0.5");
  EXPECT_EQ(fact(page, "path"), "dense");
}

INSTANTIATE_TEST_SUITE_P(Formats, EachNetcdf, ::testing::Values(NetcdfFormat::classic, NetcdfFormat::netcdf4));

TEST_F(ResultPage, TakesAxesAndUnitsOfNpzFromItsText) {
  std::vector<NamedArray> arrays;
  arrays.push_back({.name = "b", .array = ramp({9, 10})});
  arrays.push_back({.name = "theta", .array = ramp({9})});
  arrays.push_back(
      {.name = "attributes_json",
       .text = R"({"": {"schema": "sonde.test.result/1"}, "b": {"units": "T", "dimensions": ["theta", "zeta"]}})"});
  write_npz(file("a.npz"), arrays);
  const auto result = open("a.npz");
  ASSERT_NE(result, nullptr);
  ASSERT_EQ(result->quantities().size(), 1u);
  EXPECT_EQ(result->quantities()[0].unit, "T");
  EXPECT_EQ(result->quantities()[0].axes[1].name, "zeta");
  const auto heard = show(result_page(result), "b");
  EXPECT_EQ(heard->values(0)[13], 13.0f);
}

TEST_F(ResultPage, KnowsFilesThatNoVerbWrote) {
  {
    Hdf5Writer writer(file("foreign.h5"));
    writer.array("/data", ramp({9, 10}));
    writer.finish();
  }
  {
    Hdf5Writer writer(file("scan.h5"));
    writer.attribute("/", "schema", std::string("sonde.ptycho.scan/1"));
    writer.finish();
  }
  std::ofstream(file("text.h5")) << "no result";
  std::ofstream(file("short")) << "a";
  write_npz(file("foreign.npz"), std::vector<NamedArray>{});
  for (const char* name : {"foreign.h5", "scan.h5", "text.h5", "short", "foreign.npz"})
    EXPECT_EQ(open(name), nullptr) << name;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open("absent.h5"); }), HasSubstr("absent.h5"));
}

TEST_F(ResultPage, ShowsTheSliceThatIsChosenOfMoreThanTwoAxes) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/f", ramp({3, 2, 8, 9}));
  writer.finish();
  const Page page = result_page(open("a.h5"));
  EXPECT_EQ(panel(page, "f").type, "picture");
  EXPECT_EQ(panel(page, "f").options.find("sliders")->size(), 2u);
  const auto heard = show(page, "f", {2, 1});
  ASSERT_EQ(heard->frames.size(), 1u);
  EXPECT_EQ(heard->frames[0].request, 7u);
  EXPECT_EQ(heard->frames[0].rows, 8u);
  EXPECT_EQ(heard->values(0)[10], static_cast<float>((2 * 2 + 1) * 72 + 10));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)show(page, "f", {3, 0}); }), HasSubstr("elements 0 to 2"));
}

TEST_F(ResultPage, ShowsPhaseAndAmplitudeOfComplexNumbers) {
  std::vector<complex64> values(64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::polar(1.0f + static_cast<float>(i), 0.04f * static_cast<float>(i));
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/object", Array::from(values, Shape{8, 8}));
  writer.finish();
  const auto heard = show(result_page(open("a.h5")), "object");
  ASSERT_EQ(heard->frames.size(), 2u);
  // Single precision: a few units in the last place of numbers up to 64 and 2.52.
  EXPECT_NEAR(heard->values(0)[50], 2.0f, 1e-6);
  EXPECT_NEAR(heard->values(1)[50], 51.0f, 1e-5);
}

TEST_F(ResultPage, SendsMeansOfBlocksOfLargePictures) {
  constexpr Index rows = 1030, cols = 9;  // more than 1024 rows: pairs of them
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/f", ramp({rows, cols}));
  writer.finish();
  const auto heard = show(result_page(open("a.h5")), "f");
  ASSERT_EQ(heard->frames.size(), 1u);
  EXPECT_EQ(heard->frames[0].rows, 515u);
  EXPECT_EQ(heard->frames[0].cols, 9u);
  EXPECT_THAT(heard->replies[0].find("one_of")->items(), ElementsAre(Value(2), Value(1)));
  // Rows 2 and 3, column 4.
  EXPECT_EQ(heard->values(0)[cols + 4], (2 * cols + 4 + 3 * cols + 4) / 2.0f);
}

TEST_F(ResultPage, TakesMeansOfComplexNumbersBeforeTheirPhase) {
  // Pairs of rows whose phases are on either side of pi: their mean is at pi, not at 0.
  constexpr Index rows = 1030, cols = 8;
  std::vector<complex128> values;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) values.push_back(std::polar(1.0, r % 2 == 0 ? 3.0 : -3.0));
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/object", Array::from(values, Shape{rows, cols}));
  writer.finish();
  const auto heard = show(result_page(open("a.h5")), "object");
  EXPECT_NEAR(std::abs(heard->values(0)[0]), std::numbers::pi, 1e-6);
}

TEST_F(ResultPage, ReadsNothingBeyondTheBudget) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/f", ramp({64, 64}));
  writer.finish();
  const Page page = result_page(open("a.h5", Budget(1000, "a test")));
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)show(page, "f"); }), HasSubstr("f of"));
}

TEST_F(ResultPage, DrawsACurveForEachElementOfAnAxisThatIsNoPicture) {
  write_netcdf(file("a.nc"), contents_of_a_scan(), NetcdfFormat::netcdf4);
  const Page page = result_page(open("a.nc"));
  EXPECT_EQ(panel(page, "D11").type, "curves");
  EXPECT_EQ(text_at(*panel(page, "D11").options.find("x"), "name"), "nu");
  const auto heard = show(page, "D11");
  const Value& reply = heard->replies.at(0);
  EXPECT_THAT(reply.find("x")->items(),
              ElementsAre(Value(1.0), Value(10.0), Value(100.0), Value(1000.0), Value(1e4), Value(1e5)));
  ASSERT_EQ(reply.find("curves")->size(), 5u);
  const Value& third = reply.find("curves")->items()[2];
  EXPECT_EQ(text_at(third, "name"), "rho 2");
  EXPECT_EQ(third.find("y")->items()[1].as_real(), 2 * 6 + 1);
}

TEST_F(ResultPage, ThinsCurvesOutAndSaysSo) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/long", ramp({5000}));
  writer.finish();
  const Page page = result_page(open("a.h5"));
  const Value one = show(page, "long")->replies.at(0);
  EXPECT_EQ(one.find("one_of")->as_whole(), 3);
  // The last one is among them.
  EXPECT_EQ(one.find("x")->items().back().as_real(), 4999);
  EXPECT_EQ(one.find("curves")->items()[0].find("y")->items().back().as_real(), 4999);
}

TEST_F(ResultPage, ChoosesAmongCurvesThatColoursCannotTellApart) {
  Contents contents;
  contents.attribute("schema", std::string("sonde.test.result/1"));
  contents.add("nu", {"nu"}, Array::from(std::vector<double>{1, 10, 100, 1000, 1e4}, Shape{5}));
  contents.add("D", {"field", "nu"}, ramp({15, 5}));
  write_netcdf(file("a.nc"), contents, NetcdfFormat::netcdf4);
  const Value reply = show(result_page(open("a.nc")), "D")->replies.at(0);
  EXPECT_EQ(reply.find("of")->as_whole(), 15);
  std::vector<std::string> names;
  for (const Value& curve : reply.find("curves")->items()) names.push_back(text_at(curve, "name"));
  EXPECT_THAT(names,
              ElementsAre("field 0", "field 2", "field 4", "field 6", "field 8", "field 10", "field 12", "field 14"));
}

TEST_F(ResultPage, PutsTheInstrumentsPanelsFirstAndShowsNothingTwice) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/z", ramp({20, 20}));
  writer.array("/R_I", ramp({20}));
  writer.array("/R_A", ramp({20}));
  writer.array("/positions", Array::from(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Shape{5, 2}));
  writer.finish();
  using Kind = ResultPanel::Kind;
  const Page page =
      result_page(open("a.h5"), {{.kind = Kind::curves, .title = "Errors", .quantities = {"R_I", "R_A", "R_free"}},
                                 {.kind = Kind::points, .title = "Where", .quantities = {"positions"}},
                                 {.title = "Absent", .quantities = {"absent"}}});
  std::vector<std::string> titles;
  for (const Panel& each : page.panels) titles.push_back(each.title);
  EXPECT_THAT(titles, ElementsAre("Errors", "Where", "z"));
  const Value errors = show(page, "Errors")->replies.at(0);
  EXPECT_EQ(errors.find("curves")->size(), 2u);
  EXPECT_EQ(text_at(errors.find("curves")->items()[1], "name"), "R_A");
  const Value where = show(page, "Where")->replies.at(0);
  const Value& points = where.find("curves")->items()[0];
  EXPECT_EQ(points.find("y")->items()[1].as_real(), 3);  // rows
  EXPECT_EQ(points.find("x")->items()[1].as_real(), 4);
}

TEST_F(ResultPage, LeavesOutOfAPanelWhatItCannotShow) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/object", ramp({20}));
  writer.array("/R_I", ramp({20}));
  writer.array("/R_A", ramp({30}));
  writer.array("/before", ramp({20, 1}));
  writer.array("/after", ramp({20}));
  writer.finish();
  using Kind = ResultPanel::Kind;
  const Page page =
      result_page(open("a.h5"), {{.title = "Object", .quantities = {"object"}},
                                 {.kind = Kind::curves, .title = "Errors", .quantities = {"R_I", "R_A"}},
                                 {.kind = Kind::points, .title = "Where", .quantities = {"before", "after"}}});
  std::vector<std::string> titles;
  for (const Panel& each : page.panels) titles.push_back(each.title);
  EXPECT_THAT(titles, UnorderedElementsAre("Errors", "R_A", "after", "before", "object"));
  EXPECT_EQ(show(page, "Errors")->replies.at(0).find("curves")->size(), 1u);
  for (const std::string& title : titles) (void)show(page, title);  // each as its axes allow
}

TEST_F(ResultPage, SaysWhichPicturesHaveOneRange) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  for (const char* name : {"/a", "/b", "/c"}) writer.array(name, ramp({9, 11}));
  writer.finish();
  const Page page = result_page(open("a.h5"), {{.title = "A", .quantities = {"a"}, .range = "both"},
                                               {.title = "B", .quantities = {"b"}},
                                               {.title = "C", .quantities = {"c"}, .range = "both"}});
  const auto channel = [&](const char* title) {
    return panel(page, title).options.find("parts")->items()[0].find("channel")->as_whole();
  };
  EXPECT_EQ(panel(page, "B").options.find("shares"), nullptr);
  for (const char* title : {"A", "C"}) {
    const Value& shares = *panel(page, title).options.find("shares");
    ASSERT_EQ(shares.size(), 2u);
    EXPECT_EQ(shares.items()[0].as_whole(), channel("A"));
    EXPECT_EQ(shares.items()[1].as_whole(), channel("C"));
  }
}

TEST_F(ResultPage, SendsNamesAsTheyAreAndNoMeanOfThem) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  std::vector<std::int32_t> names(static_cast<std::size_t>(9 * 2050));
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = i % 2 == 0 ? 7 : 4;
  writer.array("/grain", Array::from(names, Shape{9, 2050}));
  writer.finish();
  const Page page =
      result_page(open("a.h5"), {{.kind = ResultPanel::Kind::labels, .title = "Grains", .quantities = {"grain"}}});
  EXPECT_EQ(panel(page, "Grains").type, "labels");
  const auto heard = show(page, "Grains");
  EXPECT_THAT(heard->values(0), ::testing::Each(::testing::AnyOf(4, 7)));
}

TEST_F(ResultPage, SendsColoursAsNumbersWithTheirLegendAndDirections) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  const auto bytes = [](std::vector<std::uint8_t> values, const Shape& shape) { return Array::from(values, shape); };
  writer.array("/map", bytes({1, 2, 3, 255, 255, 255, 0, 0, 9, 5, 0, 0, 0, 0, 0, 0, 1, 0}, {2, 3, 3}));
  writer.array("/legend", bytes({0, 1, 0, 2, 0, 0, 0, 0, 3, 4, 4, 4}, {4, 1, 3}));
  writer.array("/zone", ramp({2, 3, 1, 3}));
  writer.finish();
  const auto shown = [&](std::vector<std::string> quantities) {
    return result_page(open("a.h5"), {{.kind = ResultPanel::Kind::colours, .title = "A", .quantities = quantities}});
  };
  const Page page = shown({"map", "legend", "zone"});
  EXPECT_EQ(panel(page, "A").type, "colours");
  const auto heard = show(page, "A");
  ASSERT_EQ(heard->frames.size(), 5U);
  EXPECT_THAT(heard->values(0), ElementsAre(0x010203, 0xffffff, 9, 0x050000, 0, 0x0100));
  EXPECT_THAT(heard->values(1), ElementsAre(0x0100, 0x020000, 3, 0x040404));
  EXPECT_EQ(heard->frames[1].rows, 4U);
  EXPECT_THAT(heard->values(4), ElementsAre(2, 5, 8, 11, 14, 17));
  EXPECT_EQ(heard->frames[4].channel, heard->frames[0].channel + 4);
  // A map of other numbers has no colours; without a legend directions remain.
  EXPECT_EQ(panel(shown({"map", "zone"}), "A").options.find("parts")->items()[1].find("name")->as_text(), "x");
  for (const Panel& each : shown({"zone"}).panels) EXPECT_NE(each.title, "A");
}

TEST_F(ResultPage, SendsBothComponentsOfVectors) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.array("/x", ramp({9, 11}));
  writer.array("/y", ramp({9, 11}));
  writer.array("/short", ramp({9, 10}));
  writer.finish();
  using Kind = ResultPanel::Kind;
  const Page page =
      result_page(open("a.h5"), {{.kind = Kind::vectors, .title = "Field", .quantities = {"x", "y"}},
                                 {.kind = Kind::vectors, .title = "Other", .quantities = {"x", "short"}}});
  std::vector<std::string> titles;
  for (const Panel& each : page.panels) titles.push_back(each.title);
  EXPECT_THAT(titles, ElementsAre("Field", "short"));  // vectors whose components have other axes are none
  EXPECT_EQ(panel(page, "Field").type, "vectors");
  const std::shared_ptr<Heard> heard = show(page, "Field");
  ASSERT_EQ(heard->frames.size(), 2u);
  EXPECT_EQ(heard->frames[1].channel, heard->frames[0].channel + 1);
  EXPECT_EQ(heard->values(1).back(), 98);
}

/// A page whose quantity z is its stored one times a factor.
class Adjusting : public ResultPage {
 protected:
  void SetUp() override {
    Hdf5Writer writer = writer_of(file("a.h5"));
    writer.array("/z", ramp({20, 20}));
    writer.array("/other", ramp({20, 20}));
    writer.finish();
    page_ = result_page(open("a.h5"), {},
                        {.settings = {{.name = "factor", .value = Value(1.0), .low = 0, .high = 10},
                                      {.name = "square", .value = Value(false)},
                                      {.name = "way", .value = Value("plain"), .choices = {"plain", "broken"}}},
                         .facts = Value::object(),
                         .adjust = [](const Value& values) {
                           if (values.find("way")->as_text() == "broken")
                             throw Error(ErrorKind::bad_input, "it is broken");
                           const double factor = values.find("factor")->as_real();
                           Array z = ramp({20, 20});
                           for (Index i = 0; i < z.count(); ++i)
                             static_cast<double*>(z.data())[i] *=
                                 values.find("square")->as_bool() ? factor * factor : factor;
                           AdjustedResult made;
                           made.contents.attribute("schema", std::string("sonde.test.result/1"));
                           made.contents.add("z", {"row", "column"}, std::move(z));
                           made.facts["factor"] = factor;
                           return made;
                         }});
    heard_ = std::make_shared<Heard>();
    session_ = page_.open(heard_);
  }
  void adjust(const Value& setting, const Value& value) {
    Value arguments;
    arguments["setting"] = setting;
    arguments["value"] = value;
    session_->run({.id = 1, .name = "adjust", .arguments = arguments});
  }
  [[nodiscard]] float last_of(const std::string& title) {
    Value arguments;
    arguments["panel"] = *panel(page_, title).options.find("panel");
    session_->run({.id = 2, .name = "show", .arguments = arguments});
    return heard_->values(heard_->frames.size() - 1).back();
  }

  Page page_;
  std::shared_ptr<Heard> heard_;
  std::unique_ptr<Session> session_;
};

TEST_F(Adjusting, MakesWhatIsShownAnewForOneClient) {
  EXPECT_EQ(panel(page_, "Settings").place, "side");
  EXPECT_EQ(last_of("z"), 399);
  adjust("factor", 3);
  EXPECT_EQ(last_of("z"), 3 * 399);
  adjust("square", true);  // the other settings keep their values
  EXPECT_EQ(last_of("z"), 9 * 399);
  EXPECT_EQ(last_of("other"), 399);
  ASSERT_EQ(heard_->events.size(), 4u);
  EXPECT_EQ(heard_->events[2].first, "panel/found");
  EXPECT_EQ(heard_->events[3].first, "panel/adjust");
  const Value& options = *heard_->events[3].second.find("options");
  EXPECT_EQ(options.find("made")->as_whole(), 2);
  EXPECT_EQ(options.find("settings")->items()[0].find("value")->as_real(), 3);
  const std::unique_ptr<Session> other = page_.open(std::make_shared<Heard>());
  EXPECT_EQ(last_of("z"), 9 * 399);
}

TEST_F(Adjusting, RefusesWhatASettingCannotBeAndKeepsTheResult) {
  adjust("factor", 2);
  const auto refuses = [&](const Value& setting, const Value& value, const char* words) {
    EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { adjust(setting, value); }), HasSubstr(words));
  };
  refuses("factor", 11, "from 0 to 10");
  refuses("factor", std::nan(""), "from 0 to 10");
  refuses("factor", "3", "a number");
  refuses("square", 1, "true or false");
  refuses("way", "none", "plain, broken");
  refuses("way", "broken", "it is broken");
  refuses("absent", 1, "a setting of this page");
  refuses(7, 1, "a setting of this page");
  EXPECT_EQ(last_of("z"), 2 * 399);
  adjust("square", true);  // "way" is still what it was
  EXPECT_EQ(last_of("z"), 4 * 399);
}

TEST_F(ResultPage, ListsNoArchiveBeyondTheBudget) {
  std::vector<NamedArray> arrays;
  arrays.push_back({.name = "f", .array = ramp({64, 64})});
  arrays.push_back({.name = "attributes_json", .text = R"({"": {"schema": "sonde.test.result/1"}})"});
  write_npz(file("a.npz"), arrays);
  EXPECT_NE(open("a.npz"), nullptr);
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)open("a.npz", Budget(1000, "a test")); }), HasSubstr("f.npy"));
}

TEST_F(ResultPage, ShowsTextsAsWhatTheyAre) {
  Hdf5Writer writer = writer_of(file("a.h5"));
  writer.value("/settings", std::string("[grid]\nn_xi = 60\n"));
  writer.value("/diagnostics", std::string(R"([{"name": "power", "verdict": "good"}])"));
  writer.value("/provenance", std::string(R"({"program": "sonde", "source": {"bytes": 12}})"));
  writer.value("/short", std::string("dense"));
  writer.finish();
  const Page page = result_page(open("a.h5"));
  EXPECT_EQ(panel(page, "settings").type, "text");
  EXPECT_EQ(panel(page, "diagnostics").type, "table");
  EXPECT_EQ(fact(page, "source.bytes"), "12");
  EXPECT_EQ(fact(page, "short"), "dense");
}

TEST(UnitText, RaisesExponents) {
  EXPECT_EQ(unit_text("m^-1 T^-2"), "m\u207b\u00b9 T\u207b\u00b2");
  EXPECT_EQ(unit_text("T m^2"), "T m\u00b2");
  EXPECT_EQ(unit_text("px"), "px");
}

}  // namespace
}  // namespace sonde::panel
