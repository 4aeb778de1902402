// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sonde::maxwell {

/// Which threads work on one shot: all, or the one that runs it, where others run other shots meanwhile. The numbers
/// are the same.
enum class Threads { all, one };

}  // namespace sonde::maxwell
