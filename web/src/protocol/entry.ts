// SPDX-License-Identifier: Apache-2.0
/** How the page is let in. Its address holds a token, or a code that works once; either is exchanged for a secret of this
 *  page. The secret is kept in sessionStorage, which browsers keep apart by host and port, and goes to the server in the
 *  first message of the socket and in a header of requests. Nothing is kept in a cookie or in the address. */

const KEY = "sonde.secret";

/** The part of sessionStorage that is used here. */
export interface Keeper {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** What the server says to a token or a code. */
export type Exchange = (what: { token: string } | { code: string }) => Promise<{ secret?: string; message?: string }>;

export interface Entered {
  secret: string | null;
  /** Why there is none, in words. */
  problem: string | null;
  /** The rest of the address, without what let the page in. */
  search: string;
}

export const NO_ADDRESS = "This page needs the address that sonde printed when it was started. Open that one.";

/** A frame of a foreign page may be forbidden to keep anything: then the secret lasts as long as the page. */
export function keeperOf(window: { readonly sessionStorage: Keeper }): Keeper {
  try {
    window.sessionStorage.getItem(KEY);
    return window.sessionStorage;
  } catch {
    return { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  }
}

export async function enter(search: string, keeper: Keeper, exchange: Exchange): Promise<Entered> {
  const query = new URLSearchParams(search);
  const token = query.get("token");
  const code = query.get("code");
  query.delete("token");
  query.delete("code");
  const rest = query.toString() && `?${query.toString()}`;
  const kept = keeper.getItem(KEY);
  if (!token && !code) return { secret: kept, problem: kept ? null : NO_ADDRESS, search: rest };
  const { secret, message } = await exchange(token ? { token } : { code: code ?? "" });
  if (secret) {
    keeper.setItem(KEY, secret);
    return { secret, problem: null, search: rest };
  }
  // A notebook that is opened again shows the same frame: its code is used, but the page may still be known here.
  return { secret: kept, problem: kept ? null : (message ?? NO_ADDRESS), search: rest };
}

/** The server does not know the secret: another one, or one that was started again with another token. */
export function forget(keeper: Keeper): void {
  keeper.removeItem(KEY);
}

/** Asks the server that the page came from. */
export const exchangeHere: Exchange = async (what) => {
  const answer = await fetch("/api/enter", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what) });
  return (await answer.json()) as { secret?: string; message?: string };
};
