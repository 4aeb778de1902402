// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { BARS, KINDS } from "../panels/kinds";
import type { PanelDescription } from "../protocol/messages";

/** Panels in the order in which the server lists them, some of them in a column at the side. */
export function PanelsPage() {
  const { store } = useViewer();
  const panels = store.panels.value;
  const side = panels.filter(({ place }) => place === "side");
  return (
    <main class={store.page.value?.view}>
      {panels.map((panel) => panel.place !== "side" && <Panel key={panel.id} panel={panel} />)}
      {side.length > 0 && (
        <aside>
          {side.map((panel) => (
            <Panel key={panel.id} panel={panel} />
          ))}
        </aside>
      )}
    </main>
  );
}

function Panel({ panel }: { panel: PanelDescription }) {
  const hint = panel.options?.hint;
  return (
    <section class="panel" data-kind={panel.type} aria-label={panel.title}>
      {!BARS.has(panel.type) && (
        <header>
          <h2>{panel.title}</h2>
          {typeof hint === "string" && <span class="hint">{hint}</span>}
        </header>
      )}
      <Body panel={panel} />
    </section>
  );
}

function Body({ panel }: { panel: PanelDescription }) {
  const Kind = KINDS[panel.type];
  return Kind ? <Kind panel={panel} /> : <p class="hint">{`This page cannot show a panel of type "${panel.type}".`}</p>;
}
