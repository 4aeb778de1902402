# SPDX-License-Identifier: Apache-2.0
"""Pages of analyses: one file each, read here by Python's own parser."""

import html.parser
import json

import numpy as np
import pytest

import sonde


class Page(html.parser.HTMLParser):
    """Checks that elements are closed, and keeps texts by the element that holds them."""

    OPEN = {"meta", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.texts, self.sources = [], [], []
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.sources += [given[name] for name in ("src", "href") if name in given]
        if tag not in self.OPEN:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append((self.stack[-1], data))

    def of(self, tag):
        return [text for where, text in self.texts if where == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Disks in a row whose places say little: few counts, whose centres are noise."""
    folder = tmp_path_factory.mktemp("pages")
    rows, cols = np.mgrid[:24, :30]
    disk = np.hypot(rows - 11.5, cols - 14.5) < 8
    np.save(folder / "a<b>&c.npy", np.random.default_rng(2).poisson(disk * 0.5, (9, 11, 24, 30)).astype(np.uint16))
    return folder


def test_a_page_holds_all_that_was_found_and_fetches_nothing(folder):
    found = sonde.stem.com(folder / "a<b>&c.npy", html=folder / "com.html", units="px", fit="none")
    page = Page((folder / "com.html").read_text())
    assert page.of("h1") == ["Centres of mass"] and "a<b>&c.npy" in page.of("p")
    assert page.sources and all(source.startswith("data:image/png;base64,") for source in page.sources)
    warnings = [message["text"] for message in found.report["messages"] if message["level"] == "warning"]
    assert len(page.of("span")) == len(warnings)
    for warning in warnings:
        assert any(warning.split(";")[0][:40] in text for text in page.of("p")), warning
    cells = page.of("td")
    assert cells[cells.index("--fit") + 1] == "none" and cells[cells.index("--units") + 1] == "px"
    settings, results = page.of("pre")
    assert "fit = none" in settings and json.loads(results)["com"] == found.facts["com"]
    assert str(folder / "com.html") in found.files


def test_settings_are_named_as_the_program_does(folder):
    found = sonde.stem.radial(folder / "a<b>&c.npy", html=folder / "radial.html", centre="11.5,14.5")
    text = (folder / "radial.html").read_text()
    page = Page(text)
    assert "<svg" in text and page.of("h1") == ["Radial profiles"]  # a chart, not a picture
    assert not any(ord(character) < 32 and character not in "\n\t" for character in text)
    assert str(folder / "radial.html") in found.files


def test_other_names_and_inputs_are_refused(folder):
    with pytest.raises(sonde.Error, match=r"\.html"):
        sonde.stem.com(folder / "a<b>&c.npy", html=folder / "com.pdf", units="px")
    (folder / "page.html").write_text("mine")
    with pytest.raises(sonde.Error):
        sonde.stem.com(folder / "gone.npy", html=folder / "page.html", units="px")
    assert (folder / "page.html").read_text() == "mine"
