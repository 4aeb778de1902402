// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { Notices } from "../panels/notices";
import { TopBar } from "../panels/top_bar";
import { PanelsPage } from "./panels_page";
import { StemPage } from "./stem_page";

const PAGES = { stem: StemPage, report: PanelsPage, panels: PanelsPage, run: PanelsPage };

/** Chooses the arrangement by the page's view; everything else is the same for every instrument. */
export function Shell() {
  const { store } = useViewer();
  const view = store.page.value?.view;
  const Page = view !== undefined && view in PAGES ? PAGES[view as keyof typeof PAGES] : null;
  return (
    <>
      <TopBar />
      <Notices />
      {Page && <Page />}
      {view === undefined && store.gone.value === null && <p class="waiting">Waiting for the server</p>}
      {view !== undefined && !Page && <p class="waiting problem">{`This page cannot show a view of type "${view}".`}</p>}
    </>
  );
}
