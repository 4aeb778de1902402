// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_cells.h"

#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/read/test_gprmax.h"

namespace sonde::maxwell {
namespace {

using testing::block;
using testing::input_of;

const std::string boxed = block +
                          "#box: 0 0 0 0.04 0.02 0.04 soil\n"
                          "#hertzian_dipole: z 0.012 0.02 0.02 w\n"
                          "#rx: 0.028 0.02 0.02\n"
                          "#src_steps: 0.002 0 0\n#rx_steps: 0.002 0 0\n";

TEST(GprmaxCells, OfHalfTheSizeAreTwiceAsMany) {
  const auto made = with_cells(input_of(boxed), 0.5, 1);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cells, (XyzIndex{80, 80, 80}));
  EXPECT_EQ(made->src_steps, (XyzIndex{4, 0, 0}));
}

TEST(GprmaxCells, KeepTheThicknessOfLayers) {
  EXPECT_EQ(with_cells(input_of(boxed), 0.5, 1)->pml_cells[1], (std::array<Index, 2>{4, 4}));
}

TEST(GprmaxCells, LeaveLayersAsManyCellsWhereTheyAreLarger) {
  EXPECT_EQ(with_cells(input_of(boxed), 2, 1)->pml_cells[1], (std::array<Index, 2>{2, 2}));
}

TEST(GprmaxCells, KeepTheMomentOfADipole) {
  const auto moment = [](const GprmaxInput& input) {
    return acquisition_of_run(make_gprmax_model(input), 0).sources.front().scale * input.spacing[0] * input.spacing[1] *
           input.spacing[2];
  };
  EXPECT_NEAR(moment(*with_cells(input_of(boxed), 0.5, 1)) / moment(input_of(boxed)), 1, 1e-12);
}

TEST(GprmaxCells, HaveTheFileOwnTimeStepForTheirSize) {
  const GprmaxInput file = input_of(boxed);
  EXPECT_NEAR(with_cells(file, 0.5, 1)->time_step(), file.time_step() / 2, 1e-24);
}

TEST(GprmaxCells, KeepTheSecondsOfAWindowOfSteps) {
  std::string text = boxed;
  text.replace(text.find("1e-9"), 4, "201");
  const GprmaxInput file = input_of(text);
  const auto made = with_cells(file, 0.5, 1);
  EXPECT_NEAR(made->window(), 200 * file.time_step(), 1e-20);
}

TEST(GprmaxCells, OfAnotherTimeStepKeepTheWindow) {
  const GprmaxInput file = input_of(boxed);
  const GprmaxInput made = with_time_step(file, file.time_step() / 3);
  EXPECT_NEAR(made.time_step(), file.time_step() / 3, 1e-24);
  EXPECT_EQ(made.window(), file.window());
}

TEST(GprmaxCells, AreLargerWhereEverythingIsOnTheirPlanes) {
  EXPECT_TRUE(with_cells(input_of(boxed), 2, 1));
  EXPECT_FALSE(with_cells(input_of(boxed), 3, 1));  // the domain is no whole number of 3 mm
}

TEST(GprmaxCells, AreNotLargerAroundRoundObjects) {
  const GprmaxInput input = input_of(boxed + "#sphere: 0.02 0.02 0.02 0.004 soil\n");
  EXPECT_FALSE(with_cells(input, 2, 1));
  EXPECT_TRUE(with_cells(input, 0.5, 1));
}

TEST(GprmaxCells, DoNotPutASourceIntoALayer) {
  // The layer of two cells ends at 4 mm in place of 2 mm.
  EXPECT_FALSE(with_cells(input_of(block + "#hertzian_dipole: z 0.02 0.002 0.02 w\n"), 2, 1));
}

TEST(GprmaxCells, DoNotPutALaterRunIntoALayer) {
  // It ends at 36 mm, where run 4 has its receiver: 28 mm and thrice 3 mm is 37 mm.
  std::string text = boxed;
  text.replace(text.find("#rx_steps: 0.002"), 16, "#rx_steps: 0.01 ");
  EXPECT_TRUE(with_cells(input_of(text), 2, 1));
  EXPECT_FALSE(with_cells(input_of(text), 2, 2));
}

TEST(GprmaxCells, StayWhereObjectsAreAsThickAsThey) {
  EXPECT_EQ(why_cells_stay(input_of(boxed)), "");
  EXPECT_EQ(why_cells_stay(input_of(block + "#plate: 0 0.02 0 0.04 0.02 0.04 pec\n")),
            "plates and edges are as thick as a cell");
  EXPECT_EQ(why_cells_stay(input_of(block + "#voltage_source: z 0.02 0.02 0.02 50 w\n")),
            "model.in, line 8: a voltage source is as long and as thick as a cell");
  EXPECT_FALSE(with_cells(input_of(block + "#edge: 0.01 0.02 0.02 0.02 0.02 0.02 pec\n"), 0.5, 1));
}

}  // namespace
}  // namespace sonde::maxwell
