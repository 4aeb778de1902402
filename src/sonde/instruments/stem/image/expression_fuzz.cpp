// SPDX-License-Identifier: Apache-2.0
// Any text gives a mask inside the detector or a usage error; a mask and its negation make up the good pixels.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace sonde;
  using namespace sonde::stem;
  if (size == 0) return 0;
  DetectorGeometry geometry{11, 13, {}, {}, {}, {}};
  if ((bytes[0] & 1) != 0) {
    geometry.centre_row = 5.25;
    geometry.centre_col = 6.5;
    geometry.radius = 2.5;
  }
  if ((bytes[0] & 2) != 0) {
    geometry.good.assign(11 * 13, 1);
    geometry.good[17] = 0;
  }
  MembershipRules rules;
  rules.inclusive = (bytes[0] & 4) != 0;
  rules.antialias = (bytes[0] & 8) != 0 && size < 64;  // 64 times the work: short texts only
  if ((bytes[0] & 16) != 0)
    rules.load = [](const std::string& path) {
      return MaskImage{11, 13, std::vector<float>(11 * 13, path.size() % 2 == 0 ? 1.f : 0.f)};
    };
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    const DetectorExpression expression = DetectorExpression::parse(text);
    const Mask mask = expression.mask(geometry, rules);
    const Index good = geometry.good.empty() ? 11 * 13 : 11 * 13 - 1;
    if (mask.area() > good) std::abort();
    if (!rules.antialias && text.size() < 200) {
      const Mask rest = detector_mask("!(" + std::string(text) + ")", geometry, rules);
      if (mask.area() + rest.area() != good) std::abort();
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) std::abort();
  }
  return 0;
}
