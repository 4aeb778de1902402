# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs beside its work: medians over batches of calls on a scan of one tiny pattern.

PYTHONPATH=build/release/python /usr/bin/python3 python/bench/call_overhead.py
"""

import statistics
import time

import numpy as np

import sonde

BATCHES = 41


def median_us(call) -> tuple[float, float]:
    """Median and median absolute deviation of the time of one call, in microseconds."""
    calls = 1
    while True:  # batches of a millisecond and more
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - start > 1e-3:
            break
        calls *= 2
    times = []
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    centre = statistics.median(times)
    return centre, statistics.median(abs(each - centre) for each in times)


def main() -> None:
    scan = np.ones((2, 2, 8, 8), np.uint16)
    ds = sonde.stem.from_array(scan, hot_pixels="none")
    mask = np.ones((8, 8), np.float32)
    cases = {
        "ds.shape": lambda: ds.shape,
        "ds.array": lambda: ds.array,
        "ds.moments": lambda: ds.moments,
        "ds.pattern(1, 1)": lambda: ds.pattern(1, 1),
        "ds.mean_pattern": lambda: ds.mean_pattern,
        "ds.image(mask)": lambda: ds.image(mask),
        'ds.image("circle(4,4,3)")': lambda: ds.image("circle(4,4,3)"),
        "np.from_dlpack(ds)": lambda: np.from_dlpack(ds),
    }
    build = sonde.build_info()
    print(f"sonde {build['version']} ({build['revision']}), {build['compiler']}, {build['build_type']}, "
          f"{sonde.thread_count()} threads, {sonde.devices()[0]['name']}")
    for name, call in cases.items():
        centre, spread = median_us(call)
        print(f"{name:28} {centre:8.2f} us +- {spread:.2f}")


if __name__ == "__main__":
    main()
