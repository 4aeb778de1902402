// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde::maxwell {

/// Of the fields.
enum class Precision { f32, f64 };

}  // namespace sonde::maxwell
