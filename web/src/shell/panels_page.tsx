// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { KINDS } from "../panels/kinds";
import type { PanelDescription, PanelPlace } from "../protocol/messages";

/** The page as the server describes it: panels by their places, in its order; `view` decides how large they are
 *  (src/style). */
export function PanelsPage() {
  const { store } = useViewer();
  return (
    <main class={store.page.value?.view}>
      <div class="middle">
        <Panels />
      </div>
      {store.panels.value.some(({ place }) => place === "side") && (
        <aside aria-label="Controls">
          <Panels at="side" />
        </aside>
      )}
      <Panels at="bottom" />
      <Panels at="dialog" />
      <p class="unseen" aria-live="polite">
        {store.spoken}
      </p>
    </main>
  );
}

/** The panels in one place, in the order in which the server lists them. */
export function Panels({ at }: { at?: PanelPlace }) {
  const { store } = useViewer();
  return <>{store.panels.value.map((panel) => panel.place === at && <Panel key={panel.id} panel={panel} />)}</>;
}

function Panel({ panel }: { panel: PanelDescription }) {
  const { Body = Unknown, frame } = KINDS[panel.type] ?? {};
  if (frame === "own") return <Body panel={panel} />;
  const hint = panel.options?.hint;
  return (
    <section class="panel" data-kind={panel.type} aria-label={panel.title}>
      {frame !== "untitled" && (
        <header>
          <h2>{panel.title}</h2>
          {typeof hint === "string" && <span class="hint">{hint}</span>}
        </header>
      )}
      <Body panel={panel} />
    </section>
  );
}

function Unknown({ panel }: { panel: PanelDescription }) {
  return <p class="hint">{`This page cannot show a panel of type "${panel.type}".`}</p>;
}
