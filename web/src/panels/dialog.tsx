// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Button } from "./controls";
import { useViewer } from "./context";

interface Props {
  /** Of the panel. */
  id: string;
  title: string;
  children: ComponentChildren;
}

/** A window over the page, while its panel is wanted. The browser keeps the focus inside and gives it back afterwards; Escape closes. */
export function Dialog({ id, title, children }: Props) {
  const { store } = useViewer();
  return store.dialog.value === id ? <Window title={title}>{children}</Window> : null;
}

function Window({ title, children }: Omit<Props, "id">) {
  const { store } = useViewer();
  const element = useRef<HTMLDialogElement>(null);
  const close = () => (store.dialog.value = null);
  // At once, so that the next key finds it open.
  useLayoutEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={close}
      onClick={(event) => {
        if (event.target === element.current) close();
      }}
    >
      <div class="dialog">
        <header>
          <h2>{title}</h2>
          <Button quiet label="Close" icon="close" keys="Escape" onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
