// SPDX-License-Identifier: Apache-2.0
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { useTyped } from "./controls";

/** A setting that may be another from one step to the next. */
export interface RunSetting {
  /** "engine.0.step". */
  setting: string;
  /** The kind of table that it belongs to. */
  of: string;
  key: string;
  help: string;
  unit: string;
  min: number | null;
  max: number | null;
  /** Whether null unsets it. */
  optional: boolean;
  value: number | null;
}

/** What a person changed after so many steps; a restart has no setting. */
export interface RunChange {
  after: number;
  setting?: string;
  before?: number | null;
  now?: number | null;
  restart?: boolean;
}

/** What stands before the last dot of a setting: "engine.0". */
function tableOf({ setting }: RunSetting): string {
  return setting.slice(0, setting.lastIndexOf("."));
}

/** Settings of one engine or constraint together, in their order. */
export function byTable(settings: RunSetting[]): { table: string; of: string; settings: RunSetting[] }[] {
  const tables: { table: string; of: string; settings: RunSetting[] }[] = [];
  for (const one of settings) {
    const table = tableOf(one);
    const last = tables.at(-1);
    if (last?.table === table) last.settings.push(one);
    else tables.push({ table, of: one.of, settings: [one] });
  }
  return tables;
}

export function limitsInWords({ min, max, unit, optional }: Pick<RunSetting, "min" | "max" | "unit" | "optional">): string {
  const of = unit ? ` ${unit}` : "";
  const range = min !== null && max !== null ? `${min} to ${max}${of}` : min !== null ? `at least ${min}${of}` : max !== null ? `at most ${max}${of}` : unit;
  return [range, optional ? "empty: none" : ""].filter(Boolean).join(", ");
}

export function changeInWords({ after, setting, before, now }: RunChange): string {
  const text = (value: number | null | undefined) => value ?? "none";
  return setting === undefined ? `after ${after}: began again` : `after ${after}: ${setting} from ${text(before)} to ${text(now)}`;
}

/** What a person may change while the run works, with its limits, and what was changed. */
export function RunSettingsPanel({ panel }: { panel: PanelDescription }) {
  const { store, session } = useViewer();
  const { settings = [], changes = [] } = (panel.options ?? {}) as { settings?: RunSetting[]; changes?: RunChange[] };
  const over = store.ended.value || store.panels.value.some(({ type, options }) => type === "run" && options?.over === true);
  return (
    <div class="settings">
      {byTable(settings).map((group) => (
        <fieldset key={group.table} disabled={over}>
          <legend>
            {group.of} <span class="hint">{group.table}</span>
          </legend>
          {group.settings.map((one) => (
            <SettingField key={one.setting} setting={one} onChange={(value) => void session.attempt("set", { setting: one.setting, value })} />
          ))}
        </fieldset>
      ))}
      {changes.length > 0 && (
        <ol class="changes" aria-label="Changes">
          {changes.map((change, i) => (
            <li key={i}>{changeInWords(change)}</li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** A number that counts when it is entered or left. The server knows its limits and says when it refuses. */
function SettingField({ setting, onChange }: { setting: RunSetting; onChange(value: number | null): void }) {
  const typed = useTyped();
  const commit = () => {
    const words = typed.now();
    if (words === null) return;
    const value = words.trim() === "" ? null : Number(words);
    typed.type(null);
    if (value === null ? setting.optional : Number.isFinite(value) && value !== setting.value) onChange(value);
  };
  return (
    <label class="field" title={setting.help}>
      <span>{setting.key.replaceAll("_", " ")}</span>
      <input
        type="number"
        step="any"
        value={typed.shown ?? setting.value ?? ""}
        onInput={(event) => typed.type(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          if (event.key === "Escape") typed.type(null);
        }}
      />
      <span class="hint">{limitsInWords(setting)}</span>
    </label>
  );
}
