# SPDX-License-Identifier: Apache-2.0
"""Long verbs that are watched in the browser while they work, from Python."""

import io
import re
import sys
import threading
import types

import pytest

import sonde
from one_setting import differing, found, path_of
from page_client import Client
from sonde import _sonde
from test_settings import USES, places  # noqa: F401

LONG = {
    "stem validate", "stem load", "stem image", "stem calibrate", "stem com", "stem phase", "stem radial", "stem bragg", "stem strain", "stem cepstrum", "stem orient", "stem count", "stem events", "stem convert", "stem simulate",
    "ptycho run", "ptycho resume", "ptycho direct", "ptycho sweep", "ptycho orient", "ptycho simulate",
    "neoclassical run", "neoclassical scan", "neoclassical database", "neoclassical boozer", "neoclassical convergence", "neoclassical profile",
    "maxwell run", "maxwell gradient", "maxwell born", "maxwell fwi", "maxwell verify", "separate run",
}


def test_long_verbs_and_no_others_can_be_watched():
    assert {verb for verb in sonde.verbs() if any(field["key"] == "live" for field in _sonde.verb_fields(verb))} == LONG


@pytest.mark.parametrize("verb", sorted(set(USES) - LONG))
def test_another_verb_refuses_to_be_watched(verb, places):  # noqa: F811
    inputs, _ = USES[verb]
    with pytest.raises(sonde.Error, match="live") as refused:
        sonde.run(verb, *path_of(inputs, {**places, "out": "out"}), live=0)
    assert refused.value.kind == "usage"


def without_address(outcome):
    outcome["said"] = [line for line in outcome["said"] if not line.startswith("live ")]
    return outcome


@pytest.mark.parametrize("verb", sorted(LONG))
def test_what_is_watched_finds_the_same(verb, places, tmp_path, capfd):  # noqa: F811
    """To the last bit: arrays, facts, files."""
    inputs, settings = USES[verb]
    there = {**places, "out": tmp_path / "out"}
    given = {key: path_of(value, there) for key, value in settings.items()} | {"memory": "1G"}  # what is free is of the moment, and pictures name it
    without = found(verb, path_of(inputs, there), given, tmp_path / "out")
    assert "http://" not in capfd.readouterr().err
    watched = found(verb, path_of(inputs, there), {**given, "live": 0}, tmp_path / "out")
    assert "refused" not in watched, watched["refused"]
    assert re.search(r"^live +http://127\.0\.0\.1:\d+/\?token=\w+$", capfd.readouterr().err, re.MULTILINE)
    watched = without_address(watched)
    for part in differing(without, watched):
        assert without[part] == watched[part]


class Errors(io.StringIO):
    """Standard error that rings when an address is written to it."""

    def __init__(self):
        super().__init__()
        self.there = threading.Event()

    def flush(self):
        if "http://" in self.getvalue():
            self.there.set()


def test_a_scan_is_paused_and_stopped(monkeypatch):
    errors = Errors()
    monkeypatch.setattr(sys, "stderr", errors)
    ended = []

    def work():
        try:
            sonde.run("neoclassical scan", "analytic-demo", nu_v=",".join(str(1e-3 * (i + 1)) for i in range(2000)), er_hat="0,1e-4,2e-4,5e-4,1e-3",
                      set=["grid.n_theta=9", "grid.n_zeta=9", "grid.n_xi=12"], live=0)
        except sonde.Error as error:
            ended.append(error)

    working = threading.Thread(target=work)
    working.start()
    assert errors.there.wait(60), ended
    url = re.search(r"http://\S+", errors.getvalue()).group()
    client = Client(types.SimpleNamespace(url=url, _server=types.SimpleNamespace(port=int(url.split(":")[2].split("/")[0]))))

    def until(wanted):
        while True:
            message = client.receive()
            assert message["type"] != "error", message
            if message["type"] == "event" and message["event"] == "panel/run" and wanted(message["options"]):
                return message["options"]

    page = client.receive()
    assert page["view"] == "run" and page["title"] == "sonde neoclassical scan"
    run = until(lambda run: run.get("done", 0) > 0)
    assert run["units"] == "points" and run["total"] == 10000
    client.send(id=1, command="pause")
    until(lambda run: run["paused"])
    client.send(id=2, command="resume")
    until(lambda run: not run["paused"] and run["done"] > 0)
    client.send(id=3, command="stop")
    working.join(60)
    assert not working.is_alive()
    assert ended[0].kind == "interrupted" and "stopped in the browser" in str(ended[0])
    assert sonde.run("neoclassical run", "analytic-demo", nu_hat=0.1, set=["grid.n_xi=4"]).facts["D11"] > 0  # other work goes on
