// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the transforms of winograd.h do with one line of a tile, on the CPU and on a GPU.
#pragma once

#include "sonde/engine/base/host_device.h"

namespace sonde::separate::winograd {

struct SixNumbers {
  float at[6];
};
struct FourNumbers {
  float at[4];
};

/// B^T d.
SONDE_HOST_DEVICE inline SixNumbers patch_line(float d0, float d1, float d2, float d3, float d4, float d5) {
  const float even = d4 - 4 * d2, odd = d3 - 4 * d1;
  const float near = d4 - d2, far = 2 * (d3 - d1);
  return {{4 * d0 - 5 * d2 + d4, even + odd, even - odd, near + far, near - far, 4 * d1 - 5 * d3 + d5}};
}

/// A^T m.
SONDE_HOST_DEVICE inline FourNumbers product_line(float m0, float m1, float m2, float m3, float m4, float m5) {
  const float sum = m1 + m2, difference = m1 - m2;
  const float far_sum = m3 + m4, far_difference = m3 - m4;
  return {
      {m0 + sum + far_sum, difference + 2 * far_difference, sum + 4 * far_sum, difference + 8 * far_difference + m5}};
}

}  // namespace sonde::separate::winograd
