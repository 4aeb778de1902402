// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

namespace sonde::maxwell::stepping {

/// Which way a step goes. The transpose of a step of fields E, H is one of w = cb lambda_E and u = -cq lambda_H
/// (lambda: adjoint fields) with the same factors and stencils; only what the layers do comes before the derivative
/// instead of after it, and poles take what they gave.
enum class Sense { forward, transposed };

/// Which fields of a run: those before its first step or those behind its last one.
enum class RunEnd { first, last };

}  // namespace sonde::maxwell::stepping
