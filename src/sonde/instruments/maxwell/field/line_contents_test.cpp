// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/field/line_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/field/test_line.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;
using testing::small_line;

/// As write_contents() stores them.
void write_hdf5(const std::string& path, const Contents& contents) {
  Hdf5Writer file(path);
  for (const auto& variable : contents.variables()) file.array("/" + variable.name, variable.values);
  for (const auto& [name, value] : contents.attributes())
    if (const auto* text = std::get_if<std::string>(&value))
      file.text_attribute("/", name, *text);
    else
      std::visit([&, &as = name](const auto& number) { file.attribute("/", as, number); }, value);
  file.finish();
}

std::string stored_error(const Contents& contents) {
  const TemporaryFolder folder;
  write_hdf5(folder.file("a.h5"), contents);
  return error_of(ErrorKind::bad_file, [&] { (void)read_line_contents(folder.file("a.h5")); });
}

TEST(LineContents, AreReadBackToTheLastBit) {
  const TemporaryFolder folder;
  FieldLine line = small_line();
  line.warnings = {"one", "another"};
  line.channels = 3;
  line.channel = 2;
  write_hdf5(folder.file("a.h5"), line_contents(line));
  const FieldLine read = read_line_contents(folder.file("a.h5"));
  EXPECT_EQ(read.format, line.format);
  EXPECT_EQ(read.title, line.title);
  EXPECT_EQ(read.values, line.values);
  EXPECT_EQ(read.dt, line.dt);
  EXPECT_EQ(read.time_zero, line.time_zero);
  EXPECT_EQ(read.positions, line.positions);
  EXPECT_EQ(read.separation, line.separation);
  EXPECT_EQ(read.nominal_frequency, line.nominal_frequency);
  EXPECT_EQ(read.channel, 2);
  EXPECT_EQ(read.channels, 3);
  EXPECT_EQ(read.history, line.history);
  EXPECT_EQ(read.warnings, line.warnings);
}

TEST(LineContents, ThatContradictThemselvesAreNamed) {
  Contents other;
  other.attribute("schema", std::string("sonde.other/1"));
  EXPECT_THAT(stored_error(other), HasSubstr("a.h5: a file of sonde.other/1; expected sonde.maxwell.line/1"));
  EXPECT_THAT(stored_error({}), HasSubstr("a.h5: no attribute schema; expected sonde.maxwell.line/1"));
  FieldLine line = small_line();
  line.dt = -1;
  EXPECT_THAT(stored_error(line_contents(line)), HasSubstr("a.h5: dt = -1; expected above 0"));
  line = small_line();
  line.channel = 70000;
  EXPECT_THAT(stored_error(line_contents(line)), HasSubstr("a.h5: channel = 70000; expected up to 65535"));
  Contents contents = line_contents(small_line());
  Contents short_of;
  for (const auto& [name, value] : contents.attributes()) short_of.attribute(name, value);
  EXPECT_THAT(stored_error(short_of), HasSubstr("a.h5: no data set data"));
  short_of.add("data", {"trace"}, Array::from(std::vector<float>{1, 2}, {2}));
  EXPECT_THAT(stored_error(short_of), HasSubstr("a.h5: data is of shape (2,); expected 2 dimensions"));
  Contents uneven;
  for (const auto& [name, value] : contents.attributes()) uneven.attribute(name, value);
  uneven.add("data", {"trace", "time"}, Array::from(std::vector<float>{1, 2}, {2, 1}));
  uneven.add("position", {"trace"}, Array::from(std::vector<double>{1}, {1}));
  EXPECT_THAT(stored_error(uneven), HasSubstr("a.h5: 1 positions for 2 traces"));
}

}  // namespace
}  // namespace sonde::maxwell
