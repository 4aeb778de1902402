// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sonde/instruments/ptycho/constrain/constraint.h"

/// One function per constraint, defined in the file of the same name; private to this room, the table names them.
namespace sonde::ptycho::constrain {

std::unique_ptr<ConstraintSetup> tv();
std::unique_ptr<ConstraintSetup> gaussian();
std::unique_ptr<ConstraintSetup> butterworth();
std::unique_ptr<ConstraintSetup> kz();
std::unique_ptr<ConstraintSetup> slice_equal();
std::unique_ptr<ConstraintSetup> tikhonov();
std::unique_ptr<ConstraintSetup> support();
std::unique_ptr<ConstraintSetup> bounds();
std::unique_ptr<ConstraintSetup> probe_fourier_support();
std::unique_ptr<ConstraintSetup> probe_support();
std::unique_ptr<ConstraintSetup> probe_centre();
std::unique_ptr<ConstraintSetup> orthogonalise();
std::unique_ptr<ConstraintSetup> probe_aberrations();
std::unique_ptr<ConstraintSetup> probe_power();

}  // namespace sonde::ptycho::constrain
