// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { Notices } from "../panels/notices";
import { TopBar } from "../panels/top_bar";
import { PtychoPage } from "./ptycho_page";
import { ReportPage } from "./report_page";
import { StemPage } from "./stem_page";

/** Chooses the arrangement by the page's view; everything else is the same for every instrument. */
export function Shell() {
  const { store } = useViewer();
  const view = store.page.value?.view;
  return (
    <>
      <TopBar />
      <Notices />
      {view === "stem" && <StemPage />}
      {view === "report" && <ReportPage />}
      {view === "ptycho" && <PtychoPage />}
      {view === undefined && store.gone.value === null && <p class="waiting">Waiting for the server</p>}
      {view !== undefined && !["stem", "report", "ptycho"].includes(view) && <p class="waiting problem">{`This page cannot show a view of type "${view}".`}</p>}
    </>
  );
}
