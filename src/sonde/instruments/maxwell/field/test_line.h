// SPDX-License-Identifier: Apache-2.0
// For tests: lines and files made by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/field/field_formats.h"
#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell::testing {

/// Three traces of four samples, whole numbers, 0.25 ns, 10 cm; everything is set.
inline FieldLine small_line() {
  return {.format = "made by hand",
          .title = "line",
          .traces = 3,
          .samples = 4,
          .values = {1, -2, 3, -4, 50, 60, -70, 80, 900, -1000, 1100, -32768},
          .dt = 0.25e-9,
          .time_zero = 0.375e-9,
          .positions = {2, 2.1, 2.2},
          .separation = 0.36,
          .nominal_frequency = 250e6,
          .history = {"dewow: by hand", "gain: by hand"}};
}

/// Bytes of a file, little endian where numbers are put.
struct FileBytes {
  std::vector<std::byte> bytes;

  explicit FileBytes(std::size_t size = 0) : bytes(size) {}
  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  template <class T>
  void add(T value) {
    bytes.resize(bytes.size() + sizeof value);
    put(bytes.size() - sizeof value, value);
  }
};

/// What a test can replace in a text.
inline std::string with(std::string text, const std::string& part, const std::string& by) {
  return text.replace(text.find(part), part.size(), by);
}

}  // namespace sonde::maxwell::testing
