// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/panel_values.h"

#include <cstring>

namespace sonde::stem {
namespace {

/// Calls body(element) for every element of the frame in its own type.
template <class Body>
void for_each_element(const panel::Frame& frame, Body&& body) {
  const auto read = [&](auto element) {
    for (std::size_t i = 0; i < frame.payload.size(); i += sizeof element) {
      std::memcpy(&element, frame.payload.data() + i, sizeof element);
      body(element);
    }
  };
  switch (frame.type) {
    case panel::FrameType::u8:
      return read(std::uint8_t{});
    case panel::FrameType::u16:
      return read(std::uint16_t{});
    case panel::FrameType::u32:
      return read(std::uint32_t{});
    case panel::FrameType::u64:
      return read(std::uint64_t{});
    case panel::FrameType::f32:
      return read(float{});
  }
}

}  // namespace

std::vector<double> PanelValues::numbers() const {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows() * cols()));
  for_each_element(frame, [&](auto element) { values.push_back(static_cast<double>(element)); });
  return values;
}

Array PanelValues::array() const {
  const Shape shape{rows(), cols()};
  if (frame.type == panel::FrameType::f32) {
    Array values(Device::cpu(), shape, DType::f32);
    std::memcpy(values.data(), frame.payload.data(), frame.payload.size());
    return values;
  }
  Array values(Device::cpu(), shape, DType::u64);
  auto* to = static_cast<std::uint64_t*>(values.data());
  for_each_element(frame, [&](auto element) { *to++ = static_cast<std::uint64_t>(element); });
  return values;
}

}  // namespace sonde::stem
