// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/tabulate/build_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <tuple>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"
#include "sonde/instruments/neoclassical/tabulate/fingerprint.h"
#include "tests/support/budget.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using sonde::testing::read_bytes;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Equilibrium tokamak(const std::filesystem::path& data) {
  SurfaceOptions options;
  options.path = (data / "neoclassical/wout_circular_tokamak.nc").string();
  return Equilibrium::open(options);
}

DatabaseRequest small_request() {
  DatabaseRequest request;
  request.axes = {{0.5, 0.8}, {1e-3, 1e-1}, {0, 1e-4, 1e-3}};
  request.grid = {9, 3, 8};
  return request;
}

TEST(DatabaseBuild, HoldsWhatTheSolverFindsAtEveryPoint) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  DatabaseBuild build(equilibrium, std::nullopt, small_request());
  PartFile part(folder.file("d.part"), build.key());
  const Database database = build.run(part, plenty());
  const std::vector<double> fields = derived_fields(database).Es;
  for (Index r = 0; r < 2; ++r) {
    const double rho = database.axes.rho[static_cast<std::size_t>(r)];
    const Surface surface = equilibrium.surface(rho * rho).surface;
    EXPECT_EQ(database.geometry.B0_solver[static_cast<std::size_t>(r)], surface.reference_field());
    const Plan plan = Plan::prepare(surface, build.request().grid);
    for (Index nu = 0; nu < 2; ++nu)
      for (Index field = 0; field < 3; ++field) {
        const Coefficients made = plan.solve(
            {database.axes.nu_v[static_cast<std::size_t>(nu)], fields[static_cast<std::size_t>(3 * r + field)]});
        const std::size_t at = database.axes.index(r, nu, field);
        EXPECT_EQ(database.D11[at], made.D11);
        EXPECT_EQ(database.D31[at], made.D31);
        EXPECT_EQ(database.D13[at], made.D13);
        EXPECT_EQ(database.D33[at], made.D33);
        EXPECT_EQ(database.D33_spitzer[at], made.D33_spitzer);
        EXPECT_EQ(database.n_xi_used[at], 8);
      }
  }
  EXPECT_EQ(build.resumed(), 0);
  EXPECT_GT(build.point_seconds(), 0);
}

TEST(DatabaseBuild, ThreadsAndInterruptionsLeaveTheBytesAlone) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  const auto built = [&](const std::string& name, Index* resumed) {
    DatabaseBuild build(equilibrium, std::nullopt, small_request());
    PartFile part(folder.file("d.part"), build.key());
    write_database(folder.file(name), build.run(part, plenty()));
    *resumed = build.resumed();
    return read_bytes(folder.file(name));
  };
  Index resumed = -1;
  const int threads = thread_count();
  set_thread_count(1);
  const auto first = built("one.h5", &resumed);
  EXPECT_EQ(resumed, 0);
  // As after a kill in the middle of the seventh record: what is cut in two does not count.
  const auto whole = std::filesystem::file_size(folder.file("d.part"));
  std::filesystem::resize_file(folder.file("d.part"), whole - 5 * 128 - 60);
  set_thread_count(4);
  EXPECT_EQ(built("resumed.h5", &resumed), first);
  EXPECT_EQ(resumed, 6);
  std::filesystem::remove(folder.file("d.part"));
  EXPECT_EQ(built("four.h5", &resumed), first);
  set_thread_count(threads);
}

TEST(DatabaseBuild, InBatchesItIsTheSameButForRounding) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  DatabaseBuild by_threads(equilibrium, std::nullopt, small_request()),
      build(equilibrium, std::nullopt, small_request());
  EXPECT_EQ(build.why_not_in_batches(), "");
  build.use({Device::cpu(), plenty()});
  EXPECT_NE(build.key(), by_threads.key());  // a database is of one processor
  PartFile part(folder.file("d.part"), build.key()), other(folder.file("other.part"), by_threads.key());
  const Database found = build.run(part, plenty()), expected = by_threads.run(other, plenty());
  EXPECT_EQ(build.in_batches(), 12);
  EXPECT_EQ(by_threads.in_batches(), 0);
  for (std::size_t i = 0; i < expected.D11.size(); ++i) {
    EXPECT_NEAR(found.D11[i], expected.D11[i], 1e-10 * expected.D11[i]);
    EXPECT_NEAR(found.D31[i], expected.D31[i], 1e-10 * std::abs(expected.D31[i]));
    EXPECT_NEAR(found.D33[i], expected.D33[i], 1e-10 * expected.D33[i]);
  }
  DatabaseRequest single = small_request();
  single.solver.precision = Precision::f32_refine;
  EXPECT_THAT(DatabaseBuild(equilibrium, std::nullopt, single).why_not_in_batches(), HasSubstr("f32-refine"));
}

TEST(DatabaseBuild, PointsOfAnotherPrecisionAreNotUsed) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  DatabaseRequest request = small_request();
  const std::string key = DatabaseBuild(equilibrium, std::nullopt, request).key();
  request.solver.precision = Precision::f32_refine;
  DatabaseBuild build(equilibrium, std::nullopt, request);
  EXPECT_NE(build.key(), key);
  PartFile part(folder.file("d.part"), build.key());
  const Database database = build.run(part, plenty());
  ASSERT_EQ(database.precision_code.size(), database.D11.size());
  // Some of it in single precision, and what was solved so is the same from the part file.
  EXPECT_GT(std::count(database.precision_code.begin(), database.precision_code.end(), 1.0), 0);
  DatabaseBuild again(equilibrium, std::nullopt, request);
  PartFile same(folder.file("d2.part"), again.key());
  write_database(folder.file("a.h5"), database);
  write_database(folder.file("b.h5"), again.run(same, plenty()));
  EXPECT_EQ(read_bytes(folder.file("a.h5")), read_bytes(folder.file("b.h5")));
  EXPECT_EQ(read_database(folder.file("a.h5")).database.precision_code, database.precision_code);
}

TEST(DatabaseBuild, OnlyPointsAboveASmallerToleranceAreSolvedAgain) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  const auto built = [&](double tolerance) {
    DatabaseRequest request = small_request();
    request.solver.tolerance = tolerance;
    DatabaseBuild build(equilibrium, std::nullopt, request);
    PartFile part(folder.file("d.part"), build.key());
    const Database made = build.run(part, plenty());
    return std::pair(made, build.resumed());
  };
  const Database loose = built(1e-6).first;
  std::vector<double> residuals = loose.residual;
  std::sort(residuals.begin(), residuals.end());
  ASSERT_LT(residuals[5], residuals[6]) << "a tolerance between them";
  // Six were as good already.
  EXPECT_EQ(built(1e-7).second, 12);
  DatabaseRequest strict = small_request();
  strict.solver.tolerance = residuals[5];
  DatabaseBuild build(equilibrium, std::nullopt, strict);
  PartFile part(folder.file("d.part"), build.key());
  try {
    (void)build.run(part, plenty());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_converged);  // rounding may not allow it
  }
  EXPECT_EQ(build.resumed(), 6);
}

TEST(DatabaseBuild, AnInterruptKeepsWhatIsFinished) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  DatabaseBuild build(tokamak(data), std::nullopt, small_request());
  {
    PartFile part(folder.file("d.part"), build.key());
    request_interrupt(2);
    error_of(ErrorKind::interrupted, [&] { (void)build.run(part, plenty()); });
    clear_interrupt();
  }
  PartFile part(folder.file("d.part"), build.key());
  (void)build.run(part, plenty());
}

TEST(DatabaseBuild, PointsWithoutAnAnswerAreAnErrorThatNamesTheFirst) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  DatabaseRequest request = small_request();
  request.adapt = LegendreSearch{.tolerance = 1e-30, .first = 4, .most = 8};  // never reached
  DatabaseBuild build(tokamak(data), std::nullopt, request);
  PartFile part(folder.file("d.part"), build.key());
  EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)build.run(part, plenty()); }),
              AllOf(HasSubstr("12 of 12 points have no answer, the first at rho = 0.5"), Not(HasSubstr("skew"))));
}

TEST(DatabaseBuild, EndsAtThePointThatNoDatabaseCanHold) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  DatabaseRequest request;  // `collocation` on a grid too coarse for this field
  request.axes = {{0.5, 0.7}, {1e-3, 1e-1}, {0, 1e-1}};
  request.grid = {9, 9, 6, Discretisation::collocation};
  DatabaseBuild build(tokamak(data), std::nullopt, request);
  const auto expected = AllOf(HasSubstr("rho = 0.5, nu_v = 0.001, Er_tilde = 0.1: D11 = -"),
                              HasSubstr("discretisation skew"), HasSubstr("remove " + folder.file("d.part")));
  for (int time = 0; time < 2; ++time) {  // and again from what is kept, at once
    PartFile part(folder.file("d.part"), build.key());
    EXPECT_THAT(error_of(ErrorKind::not_converged, [&] { (void)build.run(part, plenty()); }), expected);
  }
}

TEST(DatabaseBuild, ItsKeyIsThatOfThePhysics) {
  SONDE_NEED_DATA(data);
  const Equilibrium equilibrium = tokamak(data);
  const std::string key = DatabaseBuild(equilibrium, std::nullopt, small_request()).key();
  EXPECT_EQ(DatabaseBuild(equilibrium, std::nullopt, small_request()).key(), key);
  for (const auto& change : std::initializer_list<void (*)(DatabaseRequest&)>{
           [](DatabaseRequest& r) { r.axes.rho[0] = 0.51; }, [](DatabaseRequest& r) { r.axes.nu_v[0] = 2e-3; },
           [](DatabaseRequest& r) { r.axes.Er_tilde[1] = 2e-4; }, [](DatabaseRequest& r) { r.grid.n_xi = 9; },
           [](DatabaseRequest& r) { r.grid.discretisation = Discretisation::collocation; },
           [](DatabaseRequest& r) { r.solver.precision = Precision::f32_refine; },
           [](DatabaseRequest& r) { r.solver.path = Path::dense; }, [](DatabaseRequest& r) { r.adapt.emplace(); }}) {
    DatabaseRequest request = small_request();
    change(request);
    EXPECT_NE(DatabaseBuild(equilibrium, std::nullopt, request).key(), key);
  }
  DatabaseRequest looser = small_request();
  looser.solver.tolerance = 1e-6;
  EXPECT_EQ(DatabaseBuild(equilibrium, std::nullopt, looser).key(), key) << "each point has its residual";
  Surface surface = equilibrium.surface(0.25).surface;
  const std::string print = fingerprint(surface);
  surface.source = "another name";
  EXPECT_EQ(fingerprint(surface), print);
  surface.b.cosine[1] += 1e-12;
  EXPECT_NE(fingerprint(surface), print);
}

// Every fact holds for any number of ranks: run by itself this is a unit test, and ctest starts it with 1, 2 and 4
// (label mpi). Nothing ends a test early, because the other ranks would wait; without data all ranks leave together.
TEST(DatabaseOfSeveralRanks, HasTheBytesOfOneAndGoesOnWithWhatIsThere) {
  SONDE_NEED_DATA(data);
  const Ranks ranks = Ranks::world();
  const bool first = ranks.rank() == 0;
  const TemporaryFolder folder;
  const Equilibrium equilibrium = tokamak(data);
  std::vector<std::uint8_t> alone;
  if (first) {
    DatabaseBuild build(equilibrium, std::nullopt, small_request());
    PartFile part(folder.file("alone.part"), build.key());
    write_database(folder.file("alone.h5"), build.run(part, plenty()));
    alone = read_bytes(folder.file("alone.h5"));
  }
  for (const Index there : {0, 7}) {
    SCOPED_TRACE(there);
    DatabaseBuild build(equilibrium, std::nullopt, small_request());
    std::optional<PartFile> part;
    if (first) {
      if (there > 0) {  // as after a kill in the middle of a record
        std::filesystem::resize_file(folder.file("d.part"),
                                     std::filesystem::file_size(folder.file("d.part")) - (12 - 8) * 128 - 60);
      }
      part.emplace(folder.file("d.part"), build.key());
    }
    const std::optional<Database> made = build.run(ranks, part ? &*part : nullptr, plenty());
    EXPECT_EQ(made.has_value(), first) << "rank 0 writes";
    if (!made) continue;
    write_database(folder.file("d.h5"), *made);
    EXPECT_EQ(read_bytes(folder.file("d.h5")), alone);
    EXPECT_EQ(build.resumed(), there);
    Index solved = 0;
    for (const Index points : build.points_of_rank()) solved += points;
    EXPECT_EQ(build.points_of_rank().size(), static_cast<std::size_t>(ranks.size()));
    EXPECT_EQ(solved, 12 - there);
  }
}

// The published database was made with a boozmn file that is not at hand: its geometry to what two transforms differ
// by.
TEST(RadialScales, AreThoseOfThePublishedDatabase) {
  SONDE_NEED_DATA(data);
  const Database published = read_database((data / "neoclassical/Dij_NTX_QI_Er_Optimized.h5").string()).database;
  SurfaceOptions options;
  options.path = (data / "neoclassical/wout_QI_nfp2_newNT_opt_hires.nc").string();
  Notes notes;
  const RadialScales scales = radial_scales(Equilibrium::open(options), std::nullopt, published.axes.rho, notes);
  EXPECT_NEAR(scales.psia / published.psia, 1, 1e-12);
  EXPECT_NEAR(scales.a_b / published.a_b, 1, 1e-3);
  for (std::size_t r = 0; r < published.axes.rho.size(); ++r) {
    SCOPED_TRACE(published.axes.rho[r]);
    EXPECT_NEAR(scales.geometry.B00[r] / published.geometry.B00[r], 1, 1e-4);
    EXPECT_NEAR(scales.geometry.G[r] / published.geometry.G[r], 1, 1e-4);
    EXPECT_NEAR(scales.geometry.iota[r] / published.geometry.iota[r], 1, 1e-4);
    EXPECT_NEAR(scales.geometry.R00[r] / published.geometry.R00[r], 1, 1e-3);
  }
  // What follows from them: a_b enters once, but twice what has it squared.
  Database made = published;
  made.a_b = scales.a_b;
  made.geometry = scales.geometry;
  made.geometry.B0_solver = published.geometry.B0_solver;
  const DerivedFields ours = derived_fields(made), theirs = derived_fields(published);
  for (const auto& [name, field, tolerance] :
       {std::tuple{"drds", &DerivedFields::drds, 1e-3}, std::tuple{"dr_tildedr", &DerivedFields::dr_tildedr, 2e-3},
        std::tuple{"dr_tildeds", &DerivedFields::dr_tildeds, 1e-3}, std::tuple{"Er", &DerivedFields::Er, 2e-3},
        std::tuple{"Es", &DerivedFields::Es, 1e-3},
        std::tuple{"MONKES_TO_SFINCS_11", &DerivedFields::monkes_to_sfincs_11, 1e-3},
        std::tuple{"MONKES_TO_SFINCS_31", &DerivedFields::monkes_to_sfincs_31, 1e-3},
        std::tuple{"MONKES_TO_SFINCS_33", &DerivedFields::monkes_to_sfincs_33, 1e-3},
        std::tuple{"SFINCS_TO_DKES_11", &DerivedFields::sfincs_to_dkes_11, 2e-3},
        std::tuple{"SFINCS_TO_DKES_31", &DerivedFields::sfincs_to_dkes_31, 1e-3},
        std::tuple{"SFINCS_TO_DKES_33", &DerivedFields::sfincs_to_dkes_33, 1e-3},
        std::tuple{"DKES_TO_D11star", &DerivedFields::dkes_to_d11_star, 1e-3},
        std::tuple{"DKES_TO_D31star", &DerivedFields::dkes_to_d31_star, 1e-3}}) {
    SCOPED_TRACE(name);
    const std::vector<double>&a = ours.*field, &b = theirs.*field;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * std::abs(b[i]));
  }
}

TEST(RadialScales, WhatIsMissingIsNamed) {
  SONDE_NEED_DATA(data);
  SurfaceOptions options;
  options.path = (data / "neoclassical/boozmn_li383_1.4m.nc").string();
  const Equilibrium boozer = Equilibrium::open(options);
  Notes notes;
  const double rho[] = {0.7};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)minor_radius(boozer, std::nullopt); }), HasSubstr("wout"));
  const double outside[] = {1.5};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)radial_scales(tokamak(data), std::nullopt, outside, notes); }),
              HasSubstr("rho = 1.5"));
  EXPECT_NO_THROW((void)radial_scales(tokamak(data), std::nullopt, rho, notes));
}

}  // namespace
}  // namespace sonde::neoclassical
