// SPDX-License-Identifier: Apache-2.0
/** What to do when the server is gone, or did not let the page in (`outside`, where the server's words do not help), in the words of the place where the page is: a browser's window, or the output of a
 *  notebook's cell. There a new kernel knows nothing of the old one's viewer; only its cell makes another. */
export type Place = "window" | "cell";

export function placeOfPage(): Place {
  return typeof window !== "undefined" && window.parent !== window ? "cell" : "window";
}

export const ADVICE: Record<Place, Record<"ended" | "stranger" | "silent", string> & { outside: string | null }> = {
  window: {
    ended: "The server has ended. Start `sonde view` again and open its new address; with the same --port and --token this page goes on by itself.",
    stranger: "A server answers, but it does not know this page. Open the address that it printed when it started.",
    silent: "The server does not answer; trying again",
    outside: null,
  },
  cell: {
    ended: "The viewer was stopped. Run this cell again to see the data.",
    stranger: "The kernel was restarted, or another viewer has taken this one's port. Run this cell again to see the data.",
    silent: "The kernel does not answer. If it was restarted, run this cell again to see the data; trying again",
    outside: "The address of this frame was used before. Run this cell again to see the data.",
  },
};
