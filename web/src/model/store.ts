// SPDX-License-Identifier: Apache-2.0
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import type { ConnectionStatus } from "../protocol/connection";
import type { Frame } from "../protocol/frame";
import type { PageMessage, PanelDescription, PanelOptions } from "../protocol/messages";

export interface Note {
  text: string;
  hint?: string;
  serious: boolean;
}

/** What every page has: the connection, its panels, the newest frames, what people are informed of. The session writes it,
 *  panels read it. */
export class Store {
  readonly status = signal<{ status: ConnectionStatus; attempt: number }>({ status: "connecting", attempt: 0 });
  /** Why the server does not answer any more, in words; null while it does. */
  readonly gone = signal<string | null>(null);
  readonly page = signal<PageMessage | null>(null);
  /** Options of panels that came after the page, by their ids. */
  readonly options = signal<Record<string, PanelOptions>>({});
  /** Whether the server has ended as it was to. */
  readonly ended = signal(false);
  readonly note = signal<Note | null>(null);
  /** The panel that is shown over the page. */
  readonly dialog = signal<string | null>(null);
  /** Said aloud to those who do not see the page. */
  readonly spoken = signal("");

  /** The panels of the page as they are now. */
  readonly panels: ReadonlySignal<PanelDescription[]> = computed(() =>
    (this.page.value?.panels ?? []).map((panel) => (panel.id in this.options.value ? { ...panel, options: this.options.value[panel.id] } : panel)),
  );

  private frames = new Map<string, Signal<Frame | null>>();

  /** The newest frame of a kind; `source` is the number that its header has for the data that it is of. */
  frame(kind: number, source: number, channel = 0): Signal<Frame | null> {
    const key = `${kind}/${source}/${channel}`;
    let found = this.frames.get(key);
    if (!found) this.frames.set(key, (found = signal<Frame | null>(null)));
    return found;
  }

  take(frame: Frame): void {
    this.frame(frame.kind, frame.dataset, frame.channel).value = frame;
  }

  /** Forgets the frames of a source. */
  clear(source: number | null): void {
    for (const [key, frame] of this.frames) if (key.includes(`/${source}/`)) frame.value = null;
  }

  /** Whether the page understands a command. */
  can(command: string): boolean {
    return this.page.value?.actions.some(({ name }) => name === command) ?? false;
  }
}
