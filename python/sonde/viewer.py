# SPDX-License-Identifier: Apache-2.0
"""The viewer, for results, data sets and series."""

from __future__ import annotations

import atexit
import html
import json
import os
import pathlib
import sys
import weakref
import webbrowser
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Unpack
from urllib.parse import urlsplit, urlunsplit

from . import _sonde
from ._keywords import ViewKeywords
from ._options import takes_options_of
from ._objects import Handle
from ._run import Result

_running: weakref.WeakSet[Viewer] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Viewers that were not stopped end before the interpreter does."""
    for viewer in list(_running):
        viewer.stop()


class Viewer(Handle):
    """A running viewer; :func:`view` makes it. At the end of a notebook's cell it shows itself."""

    _elsewhere = dict.fromkeys(("detector", "channel", "image"), 'detectors are chosen in the page; dataset.image("adf") computes an image') | \
        dict.fromkeys(("dataset", "data", "series", "item", "position"), "what is shown is given to sonde.view(); the page chooses among it")
    _to_send = "send its url, or call sonde.view() in the other process"

    def __init__(self, server: _sonde.Viewer, embed_in: list[str], height: int) -> None:
        self._server = server
        self._embed_in = embed_in
        self._height = height
        _running.add(self)

    @property
    def url(self) -> str:
        """Opens the viewer in one page, once and within ten minutes; every time it is read it is another one.

        What a notebook prints stays in its file: there it opens nothing any more.
        """
        return self._server.url

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._server.stopped

    @property
    def stats(self) -> dict[str, int]:
        """Clients now, and what happened since the start: commands, replaced, frames, dropped, refused."""
        return self._server.stats()

    def stop(self) -> None:
        """Ends the viewer and lets go of what it shows."""
        self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return "<sonde.Viewer, stopped>" if self.stopped else f"<sonde.Viewer at port {self._server.port}>"

    def _repr_html_(self) -> str | None:
        if self.stopped or not self._embed_in:
            return None
        # The same host as that of the page around: browsers let frames of other sites keep nothing.
        address = urlsplit(self.url)
        host = urlsplit(self._embed_in[0]).hostname
        if host in ("localhost", "127.0.0.1"):
            address = address._replace(netloc=f"{host}:{address.port}")
        return f'<iframe src="{html.escape(urlunsplit(address))}" width="100%" height="{self._height}" ' \
               'style="border: 0" allow="fullscreen"></iframe>'


@takes_options_of("view")
def view(*shown: Any, open: bool = False, height: int = 720, **options: Unpack[ViewKeywords]) -> Viewer:
    """Shows data sets and series, or a result, in a browser or in the output of a notebook's cell. They are served from threads of its own.

    Parameters
    ----------
    *shown : Dataset, Series or VirtualImager, or one Result
        One or several; the page chooses among them. Kept until the viewer is stopped. A data set, and that of an imager, is neither
        loaded again nor copied; items of a series are loaded when they are looked at, and are then those of ``series[i]``. The arrays
        of a result are shown as ``sonde view`` shows its file.
    open : bool
        Open a browser.
    height : int
        Of the frame in a notebook, in pixels.
    **options
        ``embed_in`` says which pages may frame the viewer. In a Jupyter kernel it is that server, unless it is given.
    """
    if options.get("embed_in") is None:
        options["embed_in"] = jupyter_origins()
    given = options["embed_in"]
    embed_in = [given] if isinstance(given, str) else [str(each) for each in given] if isinstance(given, Iterable) else []
    if not shown:
        _sonde.raise_error("usage", "view(): nothing to show is given", "sonde.view(dataset), or several data sets and series")
    if isinstance(shown[0], Result):
        if len(shown) > 1:
            _sonde.raise_error("usage", "view(): a result is viewed by itself", "start another viewer for the others")
        served = shown[0]._kept.view(str(shown[0].report.get("command", "result")), options)
    else:
        served = _sonde.view([_held(each) for each in shown], options)
    viewer = Viewer(served, embed_in, height)
    if open:
        webbrowser.open(viewer.url)
    return viewer


def _held(shown: Any) -> Any:
    """What the engine holds of a data set or a series."""
    if not hasattr(shown, "_viewed"):
        _sonde.raise_error("usage", f"view(): an object of type {type(shown).__name__} is neither a Dataset nor a Series",
                           "load it first: sonde.stem.load(path), sonde.stem.load_folder(path), sonde.stem.from_array(array)")
    return shown._viewed()


def jupyter_origins() -> list[str]:
    """Origins of the Jupyter servers of this user, when this process is a kernel of one; the likeliest first."""
    if "ipykernel" not in sys.modules:
        return []
    urls = [os.environ["JUPYTER_SERVER_URL"]] if "JUPYTER_SERVER_URL" in os.environ else []
    runtime = pathlib.Path(os.environ.get("JUPYTER_RUNTIME_DIR", pathlib.Path.home() / ".local/share/jupyter/runtime"))
    for file in sorted(runtime.glob("*server-*.json"), key=lambda path: -path.stat().st_mtime):
        urls.append(json.loads(file.read_text())["url"])
    origins = []
    for url in urls or ["http://localhost:8888/"]:
        address = urlsplit(url)
        # People reach a local server by either name.
        hosts = ["localhost", "127.0.0.1"] if address.hostname in ("localhost", "127.0.0.1") else [address.hostname or ""]
        origins += [f"{address.scheme}://{host}" + (f":{address.port}" if address.port else "") for host in hosts]
    return list(dict.fromkeys(origins))
