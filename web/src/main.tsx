// SPDX-License-Identifier: Apache-2.0
import { options, render } from "preact";

import { delays } from "./measure/delays";
import { Session } from "./model/session";
import { Store } from "./model/store";
import { Viewer, ViewerContext } from "./panels/context";
import { holds } from "./panels/legible";
import { afterImage, answered, paintWaits, severalAsked, wordsWait } from "./panels/painter";
import { Connection, type Socket } from "./protocol/connection";
import { enter, exchangeHere, forget, keeperOf, NO_ADDRESS } from "./protocol/entry";
import { Shell } from "./shell/shell";
import { measures } from "./worker/measure_later";

declare global {
  interface Window {
    /** For measurements and tests: the page's numbers, and what its panels add. */
    __sonde?: { delays: typeof delays; session: Session; settled(): boolean };
  }
}

const store = new Store();
const keeper = keeperOf(window);
const session = new Session(store, (run, ms) => void setTimeout(run, ms), () => forget(keeper));
// ?draw=canvas and ?draw=webgl are for comparison.
const asked = new URLSearchParams(location.search).get("draw");
const drawing = asked === "canvas" || asked === "webgl" ? asked : "auto";
const viewer = new Viewer(session, drawing);
const scheme = location.protocol === "https:" ? "wss:" : "ws:";
void enter(location.search, keeper, exchangeHere).then(
  ({ secret, problem, search }) => {
    // What let the page in must not stay in the address, where it is read, copied and remembered.
    history.replaceState(history.state, "", `/${search}`);
    if (secret === null) session.notLetIn(problem ?? NO_ADDRESS);
    else session.start(new Connection(() => new WebSocket(`${scheme}//${location.host}/ws`) as unknown as Socket, session, secret));
  },
  () => session.notLetIn("The server does not answer. Load the page again when it does."),
);
/** Whether what was asked for is there, and drawn and said. */
const settled = () => session.latest.idle && !paintWaits() && !wordsWait() && !holds() && !measures();
window.__sonde = { delays, session, settled };
session.answered = answered;
session.severalAsked = severalAsked;
// Only once the event that changed them is over is it known whether an image was asked for.
options.debounceRendering = (words) => queueMicrotask(() => (paintWaits() || !session.latest.idle ? afterImage(words) : words()));

const root = document.getElementById("page");
if (root)
  render(
    <ViewerContext.Provider value={viewer}>
      <Shell />
    </ViewerContext.Provider>,
    root,
  );
