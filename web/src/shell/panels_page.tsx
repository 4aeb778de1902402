// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { KINDS } from "../panels/kinds";
import type { PanelDescription } from "../protocol/messages";

/** Panels one after the other, in the order in which the server lists them. */
export function PanelsPage() {
  const { store } = useViewer();
  const page = store.page.value;
  return (
    <main class={page?.view}>
      {page?.panels.map((panel) => (
        <section key={panel.id} class="panel" data-kind={panel.type} aria-label={panel.title}>
          <header>
            <h2>{panel.title}</h2>
          </header>
          <Body panel={panel} />
        </section>
      ))}
    </main>
  );
}

function Body({ panel }: { panel: PanelDescription }) {
  const Kind = KINDS[panel.type];
  return Kind ? <Kind panel={panel} /> : <p class="hint">{`This page cannot show a panel of type "${panel.type}".`}</p>;
}
