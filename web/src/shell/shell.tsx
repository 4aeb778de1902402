// SPDX-License-Identifier: Apache-2.0
import { useViewer } from "../panels/context";
import { Notices } from "../panels/notices";
import { PanelsPage } from "./panels_page";
import { TopBar } from "./top_bar";

/** The same for every page. */
export function Shell() {
  const { store } = useViewer();
  const there = store.page.value !== null;
  return (
    <>
      <TopBar />
      <Notices />
      {there && <PanelsPage />}
      {!there && store.gone.value === null && <p class="waiting">Waiting for the server</p>}
    </>
  );
}
