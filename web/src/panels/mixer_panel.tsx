// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { colourTable } from "../display/colour_maps";
import { linearMarks } from "../display/marks";
import { paint } from "../display/paint";
import { save } from "../export/picture_file";
import { LEAST_DB, Mixer, MOST_DB, type Agreement, type Events, type EventNumber, type Overview, type Song, type Span, type Track } from "../model/mixer";
import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { Button, Group, NumberField, Select } from "./controls";
import { takesKey } from "./keyboard";

/** "1:23.4". */
export function timeText(seconds: number): string {
  const tenths = Math.round(10 * seconds);
  return `${Math.floor(tenths / 600)}:${String(Math.floor((tenths % 600) / 10)).padStart(2, "0")}.${tenths % 10}`;
}

const KEYS: { keys: string; help: string }[] = [
  { keys: "Space", help: "play and pause" },
  { keys: "\u2190 \u2192", help: "back and on by a second (Shift: by ten)" },
  { keys: "Home", help: "to the beginning" },
  { keys: "L", help: "play the loop" },
  { keys: "M", help: "mixture or stems" },
  { keys: "1 \u2026 9", help: "solo of a stem (Shift: mute)" },
  { keys: "+ \u2212 0", help: "shorter, longer and all of the time axis" },
];

/** Stems of music: what they look like, played together, their events. */
export function MixerPanel({ panel }: { panel: PanelDescription }) {
  const mixer = useViewer().part(Mixer);
  const song = mixer.song;
  // At once, so that no key is lost.
  useLayoutEffect(() => listen(mixer), [mixer]);
  useEffect(() => {
    if (!song.playing.value) return;
    let next = requestAnimationFrame(function show() {
      song.follow();
      next = requestAnimationFrame(show);
    });
    return () => cancelAnimationFrame(next);
  }, [song, song.playing.value]);
  return (
    <section class="panel mixer" aria-label={panel.title}>
      <Transport mixer={mixer} song={song} />
      <div class="tracks" key={song.number}>
        <TimeAxis song={song} />
        {song.tracks.map((track, i) => (
          <TrackRow key={i} mixer={mixer} song={song} track={track} number={i} />
        ))}
      </div>
      <details class="section">
        <summary>Keys</summary>
        <dl class="body keys">
          {KEYS.map(({ keys, help }) => (
            <div key={keys}>
              <dt>{keys}</dt>
              <dd>{help}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

function Transport({ mixer, song }: { mixer: Mixer; song: Song }) {
  const { rate } = song.options;
  const playing = song.playing.value;
  const { begin, end } = song.loop.value;
  const looping = song.looping.value;
  // What is shown may be a moment old.
  const change = (by: { begin?: number; end?: number; on?: boolean }) => {
    const { begin, end, on } = { ...song.loop.peek(), on: song.looping.peek(), ...by };
    song.setLoop(begin, end, on);
  };
  const drums = song.tracks.some(({ options }) => options.numbers);
  const place = song.place.value / rate;
  const saveMidi = () => mixer.midi().then(({ name, type, bytes }) => save(name, new Blob([bytes], { type })), (problem) => mixer.say(problem));
  return (
    <div class="transport" role="group" aria-label="Playing">
      {mixer.songs.length > 1 && (
        <Select label="Song" value={String(song.number)} options={mixer.songs.map(({ options }, i) => ({ name: String(i), text: options.name }))} onChange={(name) => mixer.show(Number(name))} />
      )}
      <Button label={playing ? "Pause" : "Play"} icon={playing ? "pause" : "play"} filled keys="Space" onClick={() => song.toggle()} />
      <span class="time">{`${timeText(place)} / ${timeText(song.seconds)}`}</span>
      <input
        type="range"
        class="place"
        aria-label="Position"
        aria-valuetext={timeText(place)}
        min={0}
        max={song.seconds}
        step={0.01}
        value={place}
        onInput={(event) => song.seek(Number(event.currentTarget.value) * rate)}
      />
      {song.options.mixture && (
        <Group label="What is heard">
          <Button label="Stems" text="Stems" pressed={!song.original.value} onClick={() => song.set(() => (song.original.value = false))} />
          <Button label="Mixture" text="Mixture" keys="M" pressed={song.original.value} onClick={() => song.set(() => (song.original.value = true))} />
        </Group>
      )}
      <div class="loop" role="group" aria-label="Loop">
        <Button label="Play the loop" icon="loop" keys="L" pressed={looping} onClick={() => change({ on: !song.looping.peek() })} />
        <NumberField label="from" unit="s" digits={3} least={0} most={song.seconds} value={begin / rate} onChange={(value) => change({ begin: value * rate })} />
        <NumberField label="to" unit="s" digits={3} least={0} most={song.seconds} value={end / rate} onChange={(value) => change({ end: value * rate })} />
      </div>
      <Group label="Time axis">
        <Button label="Shorter part of the time axis" text="+" keys="+" onClick={() => song.zoom(0.5)} />
        <Button label="Longer part of the time axis" text={"\u2212"} keys="-" onClick={() => song.zoom(2)} />
        <Button label="All of the time axis" text="All" keys="0" onClick={() => song.look(0, song.options.frames)} />
      </Group>
      {drums && <Button label="Save the events as a MIDI file" icon="export" text="MIDI" onClick={() => void saveMidi()} />}
    </div>
  );
}

/** Places of the time axis between 0 and 1. */
function useAxis(song: Song): { span: Span; at(frame: number): number } {
  const span = song.span.value;
  return { span, at: (frame) => (frame - span.first) / span.count };
}

function TimeAxis({ song }: { song: Song }) {
  const { span } = useAxis(song);
  const { rate } = song.options;
  const [low, high] = [span.first / rate, (span.first + span.count) / rate];
  const marks = linearMarks(low, high, 10);
  const step = marks.length > 1 ? marks[1] - marks[0] : 1;
  const text = (mark: number) => (step >= 1 ? timeText(mark).slice(0, -2) : step >= 0.1 ? timeText(mark) : `${mark} s`);
  return (
    <div class="axis" aria-hidden="true">
      {marks.map((mark) => {
        const at = (mark - low) / (high - low);
        return (
          <span key={mark} class={at > 0.93 ? "late" : at < 0.03 ? "early" : undefined} style={{ left: `${100 * at}%` }}>
            {text(mark)}
          </span>
        );
      })}
    </div>
  );
}

/** Events of longer songs, which take long and much memory, are found when they are asked for. */
const SEARCHED_S = 900;

interface TrackProps {
  mixer: Mixer;
  song: Song;
  track: Track;
  number: number;
}

function TrackRow({ mixer, song, track, number }: TrackProps) {
  const { name, numbers, agreement } = track.options;
  const mixture = song.isMixture(number);
  const db = track.db.value;
  const silent = song.level.value[number] === 0;
  const levelText = db <= LEAST_DB ? "silent" : `${db > 0 ? "+" : ""}${db} dB`;
  useEffect(() => {
    if (numbers && song.seconds <= SEARCHED_S && !track.events.peek()) void song.find(number);
  }, [song]);
  return (
    <div class={silent ? "track silent" : "track"} role="group" aria-label={name}>
      <div class="strip">
        <div class="line">
          <h2 title={track.options.format}>{name}</h2>
          {mixture ? (
            name !== "mixture" && <span class="hint">mixture</span>
          ) : (
            <Group label={`Hearing ${name}`}>
              <Button label={`Solo ${name}`} text="S" pressed={track.solo.value} onClick={() => song.set(() => (track.solo.value = !track.solo.value))} />
              <Button label={`Mute ${name}`} text="M" pressed={track.muted.value} onClick={() => song.set(() => (track.muted.value = !track.muted.value))} />
            </Group>
          )}
        </div>
        <div class="line level">
          <input
            type="range"
            aria-label={`Level of ${name}`}
            aria-valuetext={levelText}
            min={LEAST_DB}
            max={MOST_DB}
            step={0.5}
            value={db}
            onInput={(event) => song.set(() => (track.db.value = Number(event.currentTarget.value)))}
          />
          <span class="hint">{levelText}</span>
        </div>
        {agreement && agreement.all !== null && <span class="hint">{`${agreement.passes} passes agree to ${agreement.all.toFixed(1)} dB`}</span>}
        {numbers && <EventSection song={song} track={track} number={number} numbers={numbers} />}
      </div>
      <TrackPicture mixer={mixer} song={song} track={track} number={number} />
    </div>
  );
}

/** "12 events: 8 hihat closed, 4 hihat open". */
export function eventsInWords({ hits }: Events): string {
  const counts = new Map<string, number>();
  for (const hit of hits) counts.set(hit, (counts.get(hit) ?? 0) + 1);
  const kinds = [...counts].map(([hit, count]) => `${count} ${hit.replaceAll("_", " ")}`);
  return `${hits.length} ${hits.length === 1 ? "event" : "events"}${counts.size > 1 ? `: ${kinds.join(", ")}` : ""}`;
}

function EventSection({ song, track, number, numbers }: { song: Song; track: Track; number: number; numbers: EventNumber[] }) {
  const events = track.events.value;
  const set = (key: string, value: number) => {
    track.numbers.value = { ...track.numbers.peek(), [key]: value };
    void song.find(number);
  };
  return (
    <details class="events">
      <summary>
        <span role="status">{track.searching.value ? "Finding events \u2026" : events ? eventsInWords(events) : "Events"}</span>
      </summary>
      {!events && !track.searching.value && <Button label={`Find events of ${track.options.name}`} text="Find events" onClick={() => void song.find(number)} />}
      {track.problem.value && <p class="problem">{track.problem.value}</p>}
      {numbers.map(({ key, label, unit, min, max, step }) => {
        const value = track.numbers.value[key];
        const text = `${value} ${unit}`.trim();
        return (
          <label key={key} class="line">
            <span class="hint">{label}</span>
            <input type="range" aria-label={`${label}, ${track.options.name}`} aria-valuetext={text} min={min} max={max} step={step} value={value} onInput={(event) => set(key, Number(event.currentTarget.value))} />
            <span class="hint">{text}</span>
          </label>
        );
      })}
    </details>
  );
}

function percent(part: number): string {
  return `${100 * Math.min(1, Math.max(0, part))}%`;
}

/** By itself: it moves with every picture of the screen, and nothing else does. */
function Head({ song }: { song: Song }) {
  const here = useAxis(song).at(song.place.value);
  return here >= 0 && here <= 1 ? <div class="head" style={{ left: percent(here) }} /> : null;
}

const MARKED_HZ = [100, 1000, 10000];

/** The waveform above, the spectrogram below, and events across. A click is a place, a drag is a loop. */
function TrackPicture({ mixer, song, track, number }: TrackProps) {
  const lane = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(0);
  const [seen, setSeen] = useState(false);
  const [overview, setOverview] = useState<Overview | null>(null);
  const [done, setDone] = useState(0);
  const { span, at } = useAxis(song);
  const page = useViewer().store.page.value;
  const pressed = useRef<number | null>(null);

  useEffect(() => {
    const element = lane.current;
    if (!element) return;
    const sizes = new ResizeObserver(() => setColumns(Math.min(4096, Math.round(element.clientWidth * devicePixelRatio))));
    const sight = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true), { rootMargin: "200px" });
    sizes.observe(element);
    sight.observe(element);
    return () => {
      sizes.disconnect();
      sight.disconnect();
    };
  }, []);

  useEffect(() => {
    if (!seen || columns < 1) return;
    let wanted = true;
    const draw = (now: Overview, part: number) => {
      setOverview(now);
      setDone(part);
    };
    mixer.overviews(song.number, number, span, columns, () => wanted, draw).catch((problem) => wanted && mixer.say(problem));
    return () => {
      wanted = false;
    };
    // A page that comes again is that of a new connection.
  }, [seen, columns, span, page]);

  const frameAt = (event: PointerEvent) => {
    const box = (lane.current as HTMLDivElement).getBoundingClientRect();
    return span.first + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * span.count;
  };
  const { begin, end } = song.loop.value;
  const looping = song.looping.value;
  return (
    <div
      class="lane"
      ref={lane}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        pressed.current = frameAt(event);
        (event.currentTarget as HTMLDivElement).setPointerCapture(event.pointerId);
      }}
      onPointerUp={(event) => {
        const from = pressed.current;
        pressed.current = null;
        if (from === null) return;
        const to = frameAt(event);
        // A hand is not still: what is shorter than some pixels is a click.
        if (Math.abs(to - from) < (6 * span.count) / (lane.current as HTMLDivElement).clientWidth) song.seek(from);
        else song.setLoop(Math.min(from, to), Math.max(from, to), true);
      }}
      onPointerCancel={() => (pressed.current = null)}
    >
      <Waveform name={track.options.name} overview={overview} />
      {track.options.agreement && <AgreementStrip name={track.options.name} agreement={track.options.agreement} rate={song.options.rate} span={span} />}
      <Spectrogram name={track.options.name} overview={overview} />
      {track.events.value && <Markers events={track.events.value} rate={song.options.rate} span={span} />}
      {looping && <div class="looped" style={{ left: percent(at(begin)), right: percent(1 - at(end)) }} />}
      <Head song={song} />
      {done < 1 && <span class="hint part">{`reading ${Math.round(100 * done)} %`}</span>}
    </div>
  );
}

function Waveform({ name, overview }: { name: string; overview: Overview | null }) {
  const columns = overview?.columns ?? 1;
  const outline = (low: (i: number) => number, high: (i: number) => number) => {
    let there = 0;
    if (!overview) return "";
    while (there < columns && !Number.isNaN(overview.peaks[there])) ++there;
    if (there === 0) return "";
    let [upper, lower] = ["", ""];
    for (let i = 0; i < there; ++i) {
      // A silent place is a thin line.
      upper += `${i ? "L" : "M"}${i} ${(-Math.max(high(i), 0.004)).toFixed(4)}H${i + 1}`;
      lower = `L${i + 1} ${(-Math.min(low(i), -0.004)).toFixed(4)}H${i}${lower}`;
    }
    return `${upper}${lower}Z`;
  };
  const { peaks } = overview ?? { peaks: new Float32Array(0) };
  const rms = (i: number) => peaks[2 * columns + i];
  return (
    <svg class="wave" viewBox={`0 -1 ${columns} 2`} preserveAspectRatio="none" role="img" aria-label={`Waveform of ${name}`}>
      <path class="peak" d={outline((i) => peaks[i], (i) => peaks[columns + i])} />
      <path class="rms" d={outline((i) => -rms(i), rms)} />
    </svg>
  );
}

// Of the strip: a stem that single passes miss by less is hardly ever wrong.
const AGREED_DB = 40;

/** Bars as outlines below each other's sides, 1000 wide and 1 high: those of the values that are in sight. */
export function agreementOutline({ seconds, db }: Agreement, rate: number, { first, count }: Span): string {
  let path = "";
  db.forEach((value, i) => {
    if (value === null) return;
    const [from, to] = [i, i + 1].map((n) => 1000 * Math.min(1, Math.max(0, (n * seconds * rate - first) / count)));
    if (to <= from) return;
    const height = Math.min(1, Math.max(0.05, value / AGREED_DB));
    path += `M${from.toFixed(1)} 1H${to.toFixed(1)}V${(1 - height).toFixed(3)}H${from.toFixed(1)}Z`;
  });
  return path;
}

/** Where passes disagree, a stem is likely to be wrong. */
function AgreementStrip({ name, agreement, rate, span }: { name: string; agreement: Agreement; rate: number; span: Span }) {
  const label = `Agreement of passes on ${name}, 0 to ${AGREED_DB} dB`;
  return (
    <svg class="agreement" viewBox="0 0 1000 1" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path d={agreementOutline(agreement, rate, span)} />
    </svg>
  );
}

function Spectrogram({ name, overview }: { name: string; overview: Overview | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    if (!canvas.current || !overview) return;
    const { bands, columns, levels } = overview;
    const table = new Uint32Array(colourTable("magma").buffer);
    paint(canvas.current, bands, columns, (i) => table[levels[(bands - 1 - Math.floor(i / columns)) * columns + (i % columns)]]);
  }, [overview]);
  const { lowestHz = 1, highestHz = 1 } = overview ?? {};
  const marks = overview ? MARKED_HZ.filter((hz) => hz > lowestHz && hz < highestHz) : [];
  return (
    <div class="levels">
      <canvas ref={canvas} role="img" aria-label={`Spectrogram of ${name}`} />
      {marks.map((hz) => (
        <span key={hz} class="hz" aria-hidden="true" style={{ bottom: `${(100 * Math.log(hz / lowestHz)) / Math.log(highestHz / lowestHz)}%` }}>
          {hz < 1000 ? `${hz} Hz` : `${hz / 1000} kHz`}
        </span>
      ))}
    </div>
  );
}

/** Strokes across both pictures, louder ones longer. */
function Markers({ events, rate, span }: { events: Events; rate: number; span: Span }) {
  let path = "";
  events.times.forEach((time, i) => {
    const at = (time * rate - span.first) / span.count;
    if (at >= 0 && at <= 1) path += `M${(1000 * at).toFixed(2)} 0V${(0.15 + (0.85 * events.velocities[i]) / 127).toFixed(3)}`;
  });
  return (
    <svg class="markers" viewBox="0 0 1000 1" preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

function listen(mixer: Mixer): () => void {
  const down = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || takesKey(event.target, event.key)) return;
    const { song } = mixer;
    const { rate, mixture, frames } = song.options;
    const digit = /^Digit([1-9])$/.exec(event.code);
    const track = digit ? song.tracks[Number(digit[1]) - 1] : undefined;
    const step = (direction: number) => song.seek(song.place.peek() + direction * (event.shiftKey ? 10 : 1) * rate);
    const { begin, end } = song.loop.peek();
    const run: Record<string, () => void> = {
      " ": () => song.toggle(),
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      Home: () => song.seek(0),
      l: () => song.setLoop(begin, end, !song.looping.peek()),
      m: () => mixture && song.set(() => (song.original.value = !song.original.peek())),
      "+": () => song.zoom(0.5),
      "-": () => song.zoom(2),
      "0": () => song.look(0, frames),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (track && !song.isMixture(song.tracks.indexOf(track))) {
      const held = event.shiftKey ? track.muted : track.solo;
      song.set(() => (held.value = !held.peek()));
    } else if (run[key]) {
      run[key]();
    } else {
      return;
    }
    event.preventDefault();
  };
  window.addEventListener("keydown", down);
  return () => window.removeEventListener("keydown", down);
}
