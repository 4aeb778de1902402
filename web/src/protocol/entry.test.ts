// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { enter, forget, keeperOf, NO_ADDRESS, type Keeper } from "./entry";

function keeping(before: Record<string, string> = {}): Keeper & { kept: Map<string, string> } {
  const kept = new Map(Object.entries(before));
  return { kept, getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value), removeItem: (key) => void kept.delete(key) };
}

const never = () => Promise.reject(new Error("nothing is to be exchanged"));

describe("enter", () => {
  it("exchanges the token once and keeps only the secret", async () => {
    const keeper = keeping();
    const asked: object[] = [];
    const entered = await enter("?token=T&draw=canvas", keeper, (what) => {
      asked.push(what);
      return Promise.resolve({ secret: "S" });
    });
    expect(entered).toEqual({ secret: "S", problem: null, search: "?draw=canvas" });
    expect(asked).toEqual([{ token: "T" }]);
    expect([...keeper.kept.values()]).toEqual(["S"]);
    // Loaded again, without the token in its address.
    expect(await enter(entered.search, keeper, never)).toEqual({ secret: "S", problem: null, search: "?draw=canvas" });
  });

  it("exchanges a code in the same way", async () => {
    const entered = await enter("?code=C", keeping(), (what) => Promise.resolve("code" in what && what.code === "C" ? { secret: "S" } : {}));
    expect(entered).toEqual({ secret: "S", problem: null, search: "" });
  });

  it("goes on with what it had when a code was used before", async () => {
    const refused = () => Promise.resolve({ message: "used" });
    expect(await enter("?code=C", keeping({ "sonde.secret": "S" }), refused)).toEqual({ secret: "S", problem: null, search: "" });
    expect(await enter("?code=C", keeping(), refused)).toEqual({ secret: null, problem: "used", search: "" });
  });

  it("says what to do without an address", async () => {
    expect(await enter("", keeping(), never)).toEqual({ secret: null, problem: NO_ADDRESS, search: "" });
  });

  it("forgets a secret that nobody knows", async () => {
    const keeper = keeping({ "sonde.secret": "S" });
    forget(keeper);
    expect((await enter("", keeper, never)).secret).toBeNull();
  });

  it("works where nothing may be kept", async () => {
    const keeper = keeperOf({
      get sessionStorage(): Keeper {
        throw new Error("SecurityError");
      },
    });
    expect((await enter("?token=T", keeper, () => Promise.resolve({ secret: "S" }))).secret).toBe("S");
    expect((await enter("", keeper, never)).secret).toBeNull();
  });
});
