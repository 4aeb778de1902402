// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/database_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/neoclassical/database/test_database.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::read_bytes;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_database;

constexpr const char* published = "neoclassical/Dij_NTX_QI_Er_Optimized.h5";

TEST(DatabaseFile, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  Database database = small_database();
  database.residual.assign(24, 1e-12);
  database.n_xi_used.assign(24, 60);
  write_database(folder.file("d.h5"), database);
  const DatabaseFile read = read_database(folder.file("d.h5"));
  EXPECT_THAT(read.missing, IsEmpty());
  EXPECT_EQ(read.database.axes, database.axes);
  EXPECT_EQ(read.database.source_name, database.source_name);
  EXPECT_EQ(read.database.psia, database.psia);
  EXPECT_EQ(read.database.a_b, database.a_b);
  EXPECT_EQ(read.database.D11, database.D11);
  EXPECT_EQ(read.database.D31, database.D31);
  EXPECT_EQ(read.database.D13, database.D13);
  EXPECT_EQ(read.database.D33, database.D33);
  EXPECT_EQ(read.database.D33_spitzer, database.D33_spitzer);
  EXPECT_EQ(read.database.geometry.I, database.geometry.I);
  EXPECT_EQ(read.database.geometry.B0_solver, database.geometry.B0_solver);
  EXPECT_EQ(read.database.residual, database.residual);
  EXPECT_EQ(read.database.n_xi_used, database.n_xi_used);
  EXPECT_THAT(read.database.onsager_residual, IsEmpty());
}

TEST(DatabaseFile, EqualDatabasesGiveEqualBytes) {
  const TemporaryFolder folder;
  write_database(folder.file("a.h5"), small_database());
  write_database(folder.file("b.h5"), small_database());
  EXPECT_EQ(read_bytes(folder.file("a.h5")), read_bytes(folder.file("b.h5")));
}

TEST(DatabaseFile, SaysWhatItsAxesAreThoughTheyAreEquallyLong) {
  const TemporaryFolder folder;
  Database database = small_database();
  database.axes = {{0.25, 0.5}, {1e-4, 1e-2}, {0, 1e-3}};
  for (std::vector<double>* table : {&database.D11, &database.D31, &database.D13, &database.D33, &database.D33_spitzer})
    table->resize(8);
  write_database(folder.file("a.h5"), database);
  EXPECT_EQ(sonde::testing::python(R"(
import h5py, sys
file = h5py.File(sys.argv[1])
for name in ('rho', 'nu_v', 'Er_tilde', 'D11'):
    print(name, *[dimension.label for dimension in file[name].dims], file[name].attrs.get('units', '1'))
)",
                                   folder.file("a.h5")),
            "rho rho 1\nnu_v nu_v m^-1\nEr_tilde Er_tilde 1\nD11 rho nu_v Er_tilde m^-3 T^-2\n");
}

TEST(DatabaseFile, HasTheLayoutOfThePublishedFile) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  std::filesystem::copy_file(data / published, folder.file("theirs.h5"));
  write_database(folder.file("ours.h5"), read_database(folder.file("theirs.h5")).database);
  // Names, shapes, types, attributes and values, as the reader reports them that other programs use.
  EXPECT_EQ(sonde::testing::python(R"(
import h5py, numpy as np, sys
ours, theirs = (h5py.File(sys.argv[1] + name) for name in ('/ours.h5', '/theirs.h5'))
for key, value in theirs.attrs.items():
    mine = ours.attrs[key]
    if type(mine) != type(value) or mine != value or ours.attrs.get_id(key).dtype != theirs.attrs.get_id(key).dtype:
        print('attribute', key, repr(mine), repr(value))
for key in theirs:
    a, b = ours[key], theirs[key]
    if a.shape != b.shape or a.dtype != b.dtype or a.chunks != b.chunks:
        print(key, a.shape, b.shape, a.dtype, b.dtype)
    elif not np.allclose(a[()], b[()], rtol=1e-12, atol=0):
        print(key, 'differs')
print(sorted(set(ours) - set(theirs)), sorted(set(ours.attrs) - set(theirs.attrs)))
)",
                                   folder.path().string()),
            "[] ['comment', 'schema']\n");
}

TEST(DatabaseFile, TheOlderLayoutIsReadAndItsGapsAreListed) {
  SONDE_NEED_DATA(data);
  const DatabaseFile read = read_database((data / "neoclassical/Dij_NEOPAX_FULL_S_NEW_W7X.h5").string());
  EXPECT_THAT(read.missing, ElementsAre("attribute format_version", "attribute a_b", "attribute psia",
                                        "attribute source_name", "D33_spitzer", "B00", "R00", "G", "I", "iota"));
  EXPECT_EQ(read.database.axes, default_axes());
  // From drds, Er and dr_tildedr, which hold them; the numbers are those of another reader.
  EXPECT_NEAR(read.database.a_b, 0.51200585, 1e-8);
  EXPECT_NEAR(read.database.psia, 0.34866753, 1e-8);
  EXPECT_NEAR(read.database.geometry.B00[0], 2.7880501, 1e-7);
  EXPECT_NEAR(read.database.b2_ratio(0), 1.0021, 1e-4);
}

/// A valid file whose data set `name` is left out, or replaced by `instead`.
void write_changed(const std::string& path, const std::string& name, const Array* instead) {
  const TemporaryFolder folder;
  write_database(folder.file("valid.h5"), small_database());
  const Hdf5File valid = Hdf5File::open(folder.file("valid.h5"));
  Hdf5Writer writer(path);
  for (const std::string& dataset : valid.datasets()) {
    if (dataset == "/" + name && instead == nullptr) continue;
    const Array array = valid.dataset(dataset).read();
    writer.array(dataset, dataset == "/" + name ? *instead : array);
  }
  writer.attribute("/", "psia", 0.3);
  writer.attribute("/", "a_b", 0.5);
  writer.finish();
}

TEST(DatabaseFile, WhatIsAbsentOrOfAnotherFormIsNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const Array* instead) {
    write_changed(folder.file("x.h5"), name, instead);
    return error_of(ErrorKind::bad_file, [&] { (void)read_database(folder.file("x.h5")); });
  };
  for (const char* name : {"rho", "nu_v", "Er_tilde", "D11", "D31", "D13", "D33", "drds", "dr_tildedr", "Er", "Es"})
    EXPECT_THAT(refused(name, nullptr), HasSubstr(std::string("x.h5: there is no ") + name));
  const Array singles = Array::from<float>({1, 2}, {2}), three = Array::from<double>({1, 2, 3}, {3}),
              falling = Array::from<double>({0.5, 0.25}, {2}), twice = Array::from<double>({2, 1}, {2});
  EXPECT_THAT(refused("iota", &singles), HasSubstr("iota is f32, expected f64"));
  EXPECT_THAT(refused("D11", &three), HasSubstr("D11 has the shape (3,), expected (2, 3, 4)"));
  EXPECT_THAT(refused("rho", &falling), HasSubstr("rho does not increase"));
  EXPECT_THAT(refused("drds", &twice), HasSubstr("drds differs by"));
}

TEST(DatabaseFile, ACutOffFileIsAnErrorAtAnyLength) {
  const TemporaryFolder folder;
  write_database(folder.file("whole.h5"), small_database());
  const std::vector<std::uint8_t> bytes = read_bytes(folder.file("whole.h5"));
  for (const std::size_t length : {std::size_t{0}, std::size_t{100}, bytes.size() / 2, bytes.size() - 8}) {
    SCOPED_TRACE(length);
    sonde::testing::write_bytes(folder.file("cut.h5"), {bytes.begin(), bytes.begin() + static_cast<long>(length)});
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_database(folder.file("cut.h5")); }),
                HasSubstr("cut.h5"));
  }
}

TEST(DatabaseFile, WhatReadersCannotUseIsNotWritten) {
  const TemporaryFolder folder;
  Database database = small_database();
  database.D11[7] = -1;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { write_database(folder.file("d.h5"), database); }),
              HasSubstr("D11 of 1 points is not above zero"));
  database = small_database();
  database.geometry.R00.clear();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { write_database(folder.file("d.h5"), database); }),
              HasSubstr("R00 is missing"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("d.h5")));
  error_of(ErrorKind::io, [&] { write_database(folder.file("no/such/folder.h5"), small_database()); });
}

}  // namespace
}  // namespace sonde::neoclassical
