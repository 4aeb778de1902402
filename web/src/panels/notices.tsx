// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";

import { ADVICE, placeOfPage } from "../model/advice";
import { Button } from "./controls";
import { useViewer } from "./context";

/** What a person has to know now: the connection, and the last message of the server. */
export function Notices() {
  const { store } = useViewer();
  const { status, attempt } = store.status.value;
  const note = store.note.value;
  useEffect(() => {
    if (!note || note.serious) return;
    const timer = setTimeout(() => (store.note.value = null), 6000);
    return () => clearTimeout(timer);
  }, [note]);
  const gone = status === "lost" ? (store.gone.value ?? `${ADVICE[placeOfPage()].silent} (${attempt}).`) : null;
  // Work ends as it should; a server that people work with does not.
  const serious = store.page.value?.ended === undefined;
  return (
    <>
      {gone && (
        <p class={serious ? "notice serious" : "notice"} role={serious ? "alert" : "status"}>
          {gone}
        </p>
      )}
      {note && (
        <p class={note.serious ? "notice serious" : "notice"} role={note.serious ? "alert" : "status"}>
          <span>
            {note.text}
            {note.hint && <span class="hint"> {note.hint}</span>}
          </span>
          <Button quiet label="Dismiss" icon="close" onClick={() => (store.note.value = null)} />
        </p>
      )}
    </>
  );
}
