// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/bench/case.h"

namespace sonde::stem {

PreparedCase prepare_decode(const BenchPoint& point);
PreparedCase prepare_load(const BenchPoint& point);
PreparedCase prepare_bin(const BenchPoint& point);
PreparedCase prepare_bins(const BenchPoint& point);
PreparedCase prepare_bitplane(const BenchPoint& point);
PreparedCase prepare_index(const BenchPoint& point);
PreparedCase prepare_image(const BenchPoint& point);
PreparedCase prepare_full_size(const BenchPoint& point);
PreparedCase prepare_validate(const BenchPoint& point);
PreparedCase prepare_series(const BenchPoint& point);
PreparedCase prepare_view(const BenchPoint& point);
PreparedCase prepare_density(const BenchPoint& point);
PreparedCase prepare_dose(const BenchPoint& point);
PreparedCase prepare_centres(const BenchPoint& point);
PreparedCase prepare_rings(const BenchPoint& point);
PreparedCase prepare_masks(const BenchPoint& point);
PreparedCase prepare_radial(const BenchPoint& point);
PreparedCase prepare_scan_growth(const BenchPoint& point);
PreparedCase prepare_disks(const BenchPoint& point);
PreparedCase prepare_disk_count(const BenchPoint& point);
PreparedCase prepare_orient(const BenchPoint& point);
PreparedCase prepare_phase(const BenchPoint& point);
PreparedCase prepare_strain(const BenchPoint& point);
PreparedCase prepare_cold_file(const BenchPoint& point);

}  // namespace sonde::stem
