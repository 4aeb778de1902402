# SPDX-License-Identifier: Apache-2.0
"""The viewer of data sets and series, seen by a plain HTTP and WebSocket client."""

import json
import sys
import types
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import sonde
from sonde import viewer
from page_client import Client, get, post, secret_of


@pytest.fixture
def scan_in_memory():
    counts = np.random.default_rng(4).poisson(3, (6, 5, 16, 12)).astype(np.uint16)
    return counts, sonde.stem.from_array(counts, hot_pixels="none")


def test_images_and_patterns_are_those_of_the_data_set(scan_in_memory):
    counts, ds = scan_in_memory
    with sonde.view(ds) as view:
        client = Client(view)
        page = client.receive()
        (entry,) = page["state"]["datasets"]
        assert page["view"] == "stem" and entry["scan"] == [6, 5] and entry["detector"] == [16, 12]
        client.send(id=1, command="set_detector", channel=0, expr="rect(2,1,9,8)")
        np.testing.assert_array_equal(client.frame(2, 1), counts[..., 2:9, 1:8].sum(axis=(2, 3)))
        client.send(id=2, command="set_position", row=4, col=3)
        np.testing.assert_array_equal(client.frame(1, 2), counts[4, 3])
        client.send(id=3, command="release", dataset=0)  # what Python holds stays
        client.send(id=4, command="set_position", row=1, col=1)
        np.testing.assert_array_equal(client.frame(1, 4), counts[1, 1])
        client.close()


def test_the_data_set_is_kept_until_the_viewer_stops(scan_in_memory):
    _, ds = scan_in_memory
    view = sonde.view(ds)
    with pytest.raises(sonde.Error, match="in use by 1 viewer"):
        ds.release()
    answer, _ = get(view, "/healthz")
    assert answer.status == 200 and repr(view) == f"<sonde.Viewer at port {view._server.port}>"
    view.stop()
    view.stop()
    assert view.stopped and repr(view) == "<sonde.Viewer, stopped>"
    with pytest.raises(ConnectionRefusedError):
        get(view, "/healthz")
    ds.release()


def test_several_viewers_of_loaded_scans(scan):
    ds = sonde.stem.load(scan)
    with sonde.view(ds) as first, sonde.view(ds) as second:
        for view in (first, second):
            _, state = get(view, "/api/state", **{"X-Sonde-Secret": secret_of(view)})
            assert json.loads(state)["state"]["datasets"][0]["label"] == "scan"


@pytest.fixture
def folder(tmp_path):
    for tilt in (1, 2):
        sonde.stem.simulate(tmp_path / f"tilt{tilt}_master.h5", scan_shape=(6, 5), detector_shape=(32, 32), disk_radius=4, seed=tilt)
    return tmp_path


def test_a_series_is_shown_and_shared(folder):
    series = sonde.stem.load_folder(folder, layout="pixel")
    second = series[1]  # loaded by Python, and not again by the viewer
    with sonde.view(series) as view:
        with pytest.raises(sonde.Error, match="the series cannot be released: it is in use by 1 viewer"):
            series.release()
        client = Client(view)
        (entry,) = client.receive()["state"]["datasets"]
        assert entry["label"] == folder.name and [item["label"] for item in entry["items"]] == ["tilt1", "tilt2"]
        client.send(id=1, command="set_item", item=1)
        np.testing.assert_array_equal(client.frame(1, 1), second.pattern(0, 0))
        client.send(id=2, command="set_detector", channel=0, expr="bf")
        np.testing.assert_array_equal(client.frame(2, 2), second.image("bf"))
        client.send(id=3, command="set_item", item=0)
        while True:  # a preview first, unless its load is over
            message = client.receive()
            if isinstance(message, tuple) and message[0] == 2 and not message[3]:
                break
        assert series.held(0)
        np.testing.assert_array_equal(message[2], series[0].image("bf"))
        client.close()
    series.release()


def test_the_data_set_of_an_imager_is_shown(scan_in_memory):
    counts, ds = scan_in_memory
    imager = sonde.stem.VirtualImager(ds)
    with sonde.view(imager) as view:
        client = Client(view)
        client.send(id=1, command="set_position", row=2, col=4)
        np.testing.assert_array_equal(client.frame(1, 1), counts[2, 4])
        client.close()


def test_several_are_shown(scan, scan_in_memory, folder):
    counts, ds = scan_in_memory
    other, series = sonde.stem.load(scan), sonde.stem.load_folder(folder, layout="pixel")
    with sonde.view(ds, other, series) as view:
        client = Client(view)
        first, second, third = client.receive()["state"]["datasets"]
        assert first["scan"] == [6, 5] and second["scan"] == [12, 10] and [item["label"] for item in third["items"]] == ["tilt1", "tilt2"]
        client.send(id=1, command="set_position", row=4, col=3)
        np.testing.assert_array_equal(client.frame(1, 1), counts[4, 3])
        for held in (ds, other, series):
            with pytest.raises(sonde.Error, match="in use by 1 viewer"):
                held.release()
        client.close()
    for held in (ds, other, series):
        held.release()
    with pytest.raises(sonde.Error, match="nothing to show is given"):
        sonde.view()


def test_unknown_attributes_of_a_viewer_are_errors(scan_in_memory):
    with sonde.view(scan_in_memory[1]) as view:
        with pytest.raises(AttributeError, match='Viewer: no attribute "detector"') as caught:
            view.detector = "adf"
        assert isinstance(caught.value, sonde.Error) and 'dataset.image("adf")' in caught.value.hint
        with pytest.raises(sonde.Error, match='no attribute "sotp"; did you mean "stop"?'):
            view.sotp = 1
        with pytest.raises(sonde.Error, match="Viewer.url: cannot be set"):
            view.url = ""


def test_what_cannot_be_shown_is_named():
    with pytest.raises(sonde.Error, match="an object of type str is neither a Dataset nor a Series") as refused:
        sonde.view("scan_master.h5")
    assert refused.value.kind == "usage" and "sonde.stem.load" in refused.value.hint


def test_without_the_secret_nothing_is_shown(scan_in_memory):
    with sonde.view(scan_in_memory[1]) as view:
        page = get(view, "/")[0]
        assert page.status == 200 and "frame-ancestors 'none'" in page.getheader("Content-Security-Policy")
        assert get(view, "/api/state")[0].status == 403
        assert get(view, "/api/state", **{"X-Sonde-Secret": "guessed"})[0].status == 403
        assert post(view, "/api/enter", {"code": "guessed"})[0].status == 403
        assert view._repr_html_() is None


def test_what_a_notebook_keeps_opens_nothing(scan_in_memory):
    with sonde.view(scan_in_memory[1]) as view:
        url = view.url
        assert url != view.url and "token" not in url + repr(view)
        code = parse_qs(urlsplit(url).query)["code"][0]
        assert post(view, "/api/enter", {"code": code})[0].status == 200
        answer, body = post(view, "/api/enter", {"code": code})
        assert answer.status == 403 and "opens one page, once" in body["message"]
    with pytest.raises(sonde.Error, match="the viewer was stopped"):
        view.url


def test_a_notebook_frames_it(scan_in_memory, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.delenv("JUPYTER_SERVER_URL", raising=False)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "jpserver-7.json").write_text('{"url": "http://localhost:8899/", "token": "x"}')
    assert viewer.jupyter_origins() == ["http://localhost:8899", "http://127.0.0.1:8899"]
    with sonde.view(scan_in_memory[1]) as view:
        policy = get(view, "/")[0].getheader("Content-Security-Policy")
        assert "frame-ancestors http://localhost:8899 http://127.0.0.1:8899" in policy
        shown = view._repr_html_()
        assert f'<iframe src="http://localhost:{view._server.port}/?code=' in shown and 'height="720"' in shown
    assert view._repr_html_() is None


def test_settings_have_names_and_checks(scan_in_memory):
    _, ds = scan_in_memory
    with pytest.raises(sonde.Error, match='unknown key "prot" in view'):
        sonde.view(ds, prot=1)
    with pytest.raises(sonde.Error) as refused:
        sonde.view(ds, embed_in="localhost")
    assert refused.value.kind == "usage"
    ds.release()  # a viewer that was refused keeps nothing
