// SPDX-License-Identifier: Apache-2.0
import { Button } from "../panels/controls";
import { useViewer } from "../panels/context";
import { KINDS } from "../panels/kinds";
import { Panels } from "./panels_page";

/** What is shown, the connection, and what can be opened over the page. */
export function TopBar() {
  const { store } = useViewer();
  const panels = store.panels.value;
  return (
    <header class="top">
      <h1>sonde</h1>
      {panels.some(({ place }) => place === "title") ? <Panels at="title" /> : <span class="title">{store.page.value?.title}</span>}
      <span class="spring" />
      <Panels at="top" />
      <ConnectionState />
      {panels.map(
        ({ id, type, title, place }) => place === "dialog" && <Button key={id} label={title} {...KINDS[type]?.button} onClick={() => (store.dialog.value = id)} />,
      )}
    </header>
  );
}

function ConnectionState() {
  const { store } = useViewer();
  const { status } = store.status.value;
  const text = { open: "connected", connecting: "connecting", lost: "no connection", closed: "closed" }[status];
  return (
    <span class={`connection ${status}`} role="status">
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}
