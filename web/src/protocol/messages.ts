// SPDX-License-Identifier: Apache-2.0
/** The text messages of `sonde.view.v1`; docs/viewer-protocol.md describes them. */

export interface PageState {
  /** Options of panels by their ids, in place of those that the page lists. */
  panels?: Record<string, PanelOptions>;
  [name: string]: unknown;
}

export type PanelOptions = Record<string, unknown>;

/** "title" and "top": in the top bar, in place of the page's title or beside the state of the connection; "side": in the column
 *  at the side; "bottom": below the others; "dialog": over the page, once a button in the top bar was pressed. */
export type PanelPlace = "title" | "top" | "side" | "bottom" | "dialog";

export interface PanelDescription {
  id: string;
  type: string;
  title: string;
  /** Where on the page; absent: in the middle. */
  place?: PanelPlace;
  options?: PanelOptions;
}

export interface PageMessage {
  type: "page";
  protocol: string;
  client: number;
  title: string;
  view: string;
  /** What is said when the server has ended, where that is no fault. */
  ended?: string;
  panels: PanelDescription[];
  actions: { name: string; help: string }[];
  state: PageState | null;
}

export interface Reply {
  type: "reply";
  id: number;
  command: string;
  [name: string]: unknown;
}

export interface Failure {
  type: "error";
  id: number;
  command: string;
  kind: string;
  message: string;
  hint?: string;
  activity?: string;
}

export interface ServerEvent {
  type: "event";
  event: string;
  [name: string]: unknown;
}

export type Message = PageMessage | Reply | Failure | ServerEvent;

export const PROTOCOL = "sonde.view.v1";

/** Throws an Error for text that is no message of the protocol. */
export function parseMessage(text: string): Message {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("type" in value)) throw new Error("a message without a type");
  const message = value as Message;
  switch (message.type) {
    case "page":
      if (message.protocol !== PROTOCOL)
        throw new Error(`the server speaks ${String(message.protocol)}, this page ${PROTOCOL}; load the page again`);
      return message;
    case "reply":
    case "error":
    case "event":
      return message;
    default:
      throw new Error(`a message of unknown type "${String((value as { type: unknown }).type)}"`);
  }
}
