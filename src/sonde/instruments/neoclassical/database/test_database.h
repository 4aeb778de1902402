// SPDX-License-Identifier: Apache-2.0
// A small database for tests, every value of it different.
#pragma once

#include <cmath>

#include "sonde/instruments/neoclassical/database/database.h"

namespace sonde::neoclassical::testing {

inline Database small_database() {
  Database database;
  database.axes = {{0.25, 0.5}, {1e-4, 1e-2, 1}, {0, 1e-4, 1e-3, 1e-2}};
  database.source_name = "made for a test";
  database.psia = 0.3;
  database.a_b = 0.5;
  database.geometry = {{2.5, 2.6}, {5.5, 5.6}, {14, 14.1}, {-0.01, 0.02}, {0.85, 0.9}, {2.51, 2.62}};
  for (Index i = 0; i < database.axes.count(); ++i) {
    const auto x = static_cast<double>(i);
    database.D11.push_back(1 / (1 + x));
    database.D31.push_back(std::cos(x));
    database.D13.push_back(-std::cos(x) + 1e-9 * x);
    database.D33.push_back(10 + x);
    database.D33_spitzer.push_back(20 + x);
  }
  return database;
}

}  // namespace sonde::neoclassical::testing
