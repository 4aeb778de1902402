// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/data.h"

#include "sonde/instruments/separate/network/reference.h"
#include "sonde/instruments/separate/network/test_arrays.h"
#include "sonde/instruments/separate/network/test_cases.h"

namespace sonde::separate {
namespace {

// 109 M parameters, 144e9 multiplications.
TEST(FullSizeNetwork, GivesTheOutputOfPyTorch) {
  SONDE_NEED_DATA(data);
  const ReferenceCase each = case_e();
  const auto folder = data / "separation/reference" / each.folder;
  const auto input = doubles(read_npy((folder / "input.npy").string()));
  const ParameterValues values = formula_values(each.config, each.seed);
  const auto got = ReferenceNetwork(each.config, values).run({input.data(), 2, each.config.chunk});
  // PyTorch's float32 through 140 layers: it differs from float64 by 1.5e-6.
  EXPECT_LT(relative_difference(got, doubles(read_npy((folder / "output.npy").string()))), 5e-6);
}

}  // namespace
}  // namespace sonde::separate
