# SPDX-License-Identifier: Apache-2.0
"""Other threads run during work, Ctrl-C ends it, progress is told, and one data set serves several threads."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sonde

# A raw file of 256 GiB that is all holes: reading it takes far longer than any test waits.
ENDLESS = """
import os, signal, sys, threading
import sonde
path, = sys.argv[1:]
with open(path, "wb") as file:
    file.truncate(512 * 512 * 1024 * 1024)
def load(**options):
    return sonde.stem.load(path, raw_shape=(512, 512, 1024, 1024), raw_dtype="u1", dtype="u8", hot_pixels="none", layout="file",
                           **options)
"""

INTERRUPTED_AGAIN = """
import os, signal, sys, threading, time
import sonde
path, = sys.argv[1:]
with open(path, "wb") as file:
    file.truncate(4 * 4 * 64 * 64)
over = threading.Event()
def handler(*_):
    if not over.is_set():
        over.set()
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
def person():
    while not os.path.exists(path + ".reached"):
        time.sleep(0.001)
    while not over.is_set():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
thread = threading.Thread(target=person)
thread.start()
try:
    sonde.stem.load(path, raw_shape=(4, 4, 64, 64), raw_dtype="u1", layout="file")
except KeyboardInterrupt:
    print("ended")
thread.join()
sonde.stem.simulate(path + "_master.h5", scan_shape=(4, 4), detector_shape=(32, 32), disk_radius=4)
ds = sonde.stem.load(path + "_master.h5")
print(int(ds.image("all").sum()) == int(ds.array.sum()))
"""


def run(script, tmp_path):
    return subprocess.run([sys.executable, "-c", ENDLESS + script, tmp_path / "holes.raw"], capture_output=True, text=True,
                          check=False)


def test_other_threads_run_during_a_load(tmp_path):
    # Threads change only where one gives way. The load ends only through the other thread, which runs only if the load does.
    done = run("""
sys.setswitchinterval(1000)
begun = threading.Event()
def other():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=other).start()
begun.set()
try:
    load()
except KeyboardInterrupt:
    print("interrupted by the other thread")
""", tmp_path)
    assert done.stdout == "interrupted by the other thread\n", done.stderr


def test_ctrl_c_during_progress_ends_a_load(tmp_path):
    done = run("""
def progress(stage, fraction, detail):
    os.kill(os.getpid(), signal.SIGINT)
try:
    load(progress=progress)
except KeyboardInterrupt:
    print("interrupted")
sonde.stem.simulate(path + "_master.h5", scan_shape=(4, 4))  # the next work is not
print("and went on")
""", tmp_path)
    assert done.stdout == "interrupted\nand went on\n", done.stderr


def test_a_handler_that_raises_nothing_still_ends_the_work(tmp_path):
    done = run("""
signal.signal(signal.SIGINT, lambda *_: print("handled"))
def progress(*_):
    os.kill(os.getpid(), signal.SIGINT)
try:
    load(progress=progress)
except sonde.Error as error:
    print(error.kind)
""", tmp_path)
    assert done.stdout.endswith("interrupted\n") and done.stdout.startswith("handled\n"), done.stderr


def test_a_second_ctrl_c_ends_a_call_that_does_not_look(tmp_path):
    # Reading the file never returns (SONDE_FAILING_READ). Ctrl-C comes again and again until the call is over.
    path = tmp_path / "stuck.raw"
    environment = os.environ | {"LD_PRELOAD": os.environ["SONDE_FAILING_READ"], "SONDE_STUCK_FILE": str(path.resolve())}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_AGAIN, path], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "ended\nTrue\n" and done.returncode == 0, done.stderr


def test_an_interrupted_simulation_leaves_nothing(tmp_path):
    def progress(stage, fraction, detail):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sonde.stem.simulate(tmp_path / "large_master.h5", scan_shape=(512, 512), progress=progress)
    assert os.listdir(tmp_path) == []


def test_progress_is_told(scan):
    told = []
    sonde.stem.load(scan, progress=lambda stage, fraction, detail: told.append((stage, fraction, detail)))
    stage, fraction, detail = told[-1]
    assert stage == "loading" and fraction == 1 and detail["finished"]
    assert detail["done"] == detail["total"] == 120 and detail["unit"] == "positions"


def test_progress_of_one_thread_is_not_told_to_another(scan, tmp_path):
    def simulate(name):
        stages = []
        sonde.stem.simulate(tmp_path / f"{name}_master.h5", scan_shape=(8, 8), detector_shape=(32, 32), disk_radius=4,
                            progress=lambda stage, *_: stages.append(stage))
        return stages

    def load(name):
        stages = []
        for _ in range(5):
            sonde.stem.load(scan, progress=lambda stage, *_: stages.append(stage))
        return stages

    with ThreadPoolExecutor(4) as pool:
        simulated = [pool.submit(simulate, i) for i in range(4)]
        loaded = [pool.submit(load, i) for i in range(4)]
    assert all(set(job.result()) == {"simulating"} for job in simulated)
    assert all(set(job.result()) == {"loading"} for job in loaded)


@pytest.mark.parametrize("layout", ["pixel", "frame", "compressed", "file"])
def test_threads_share_one_data_set(scan, clean, layout):
    ds = sonde.stem.load(scan, layout=layout)
    detectors = [f"circle({row},24,9)" for row in range(20, 44)]
    alone = ds.image(detectors)
    with ThreadPoolExecutor(4) as pool:
        images = pool.map(ds.image, detectors)
        patterns = pool.map(lambda i: ds.pattern(i // 10, i % 10), range(120))
        for image, expected in zip(images, alone, strict=True):
            np.testing.assert_array_equal(image, expected)
        for i, pattern in enumerate(patterns):
            np.testing.assert_array_equal(pattern, clean[i // 10, i % 10])


def test_release_is_refused_while_a_call_runs(scan):
    ds = sonde.stem.load(scan, layout="file")
    outcome = []

    def progress(*_):
        try:
            ds.release()
        except sonde.Error as error:
            outcome.append(error.message)

    ds.image("all", progress=progress)
    assert outcome and set(outcome) == {"the data set cannot be released: it is in use by 1 running call"}
    ds.release()


def test_loads_run_side_by_side(scan, clean):
    with ThreadPoolExecutor(4) as pool:
        for ds in pool.map(lambda _: sonde.stem.load(scan), range(8)):
            np.testing.assert_array_equal(ds.array, clean)


def test_work_is_possible_outside_the_main_thread(scan):
    shapes = []
    thread = threading.Thread(target=lambda: shapes.append(sonde.stem.load(scan).shape))
    thread.start()
    thread.join()
    assert shapes == [(12, 10, 64, 48)]
