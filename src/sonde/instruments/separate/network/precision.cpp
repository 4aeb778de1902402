// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/precision.h"

#include "sonde/engine/base/small_float.h"

namespace sonde::separate {

const char* name(Precision precision) {
  switch (precision) {
    case Precision::automatic:
      return "auto";
    case Precision::f32:
      return "f32";
    case Precision::f16:
      return "f16";
    case Precision::bf16:
      return "bf16";
    case Precision::tf32:
      return "tf32";
  }
  return "";
}

ParameterValues rounded(ParameterValues values, Precision precision) {
  if (precision != Precision::f16 && precision != Precision::bf16) return values;
  ParameterValues made;
  for (const auto& [name, array] : values) {
    const auto from = elements(values, name);
    Array to(Device::cpu(), array.shape(), DType::f32);
    auto* const out = static_cast<float*>(to.data());
    for (std::size_t i = 0; i < from.size(); ++i) {
      out[i] = precision == Precision::f16 ? from_fp16(to_fp16(from[i])) : from_bf16(to_bf16(from[i]));
    }
    made.emplace(name, std::move(to));
  }
  return made;
}

}  // namespace sonde::separate
