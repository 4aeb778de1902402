# SPDX-License-Identifier: Apache-2.0
"""MIDI files of `sonde separate midi`, read by mido, beside the events that are in them."""

import csv
import os
import pathlib
import subprocess

import mido
import pytest

PROGRAM = os.environ["SONDE_PROGRAM"]
STEMS = pathlib.Path(os.environ.get("SONDE_TEST_DATA") or pathlib.Path(__file__).parents[3] / "shared/data") / "separation/demo/groove"


def written(folder, *options):
    """The MIDI file, and the rows of the table of events."""
    if not STEMS.exists():
        pytest.skip("no test data")
    words = [PROGRAM, "separate", "midi", str(STEMS), "-o", str(folder / "drums.mid"), "--events", str(folder / "drums.csv"), "--quiet", *options]
    subprocess.run(words, check=True)
    with open(folder / "drums.csv", newline="") as table:
        return mido.MidiFile(folder / "drums.mid"), list(csv.DictReader(table))


def notes_of(midi):
    """Seconds, note and velocity of each note, in order."""
    now, notes = 0.0, []
    for message in midi:
        now += message.time
        if message.type == "note_on" and message.velocity > 0:
            assert message.channel == 9
            notes.append((now, message.note, message.velocity))
    return sorted(notes)


@pytest.mark.parametrize("options", [[], ["--format", "0"], ["--tempo", "93.7"]])
def test_mido_reads_the_events(options, tmp_path):
    midi, rows = written(tmp_path, *options)
    expected = sorted((float(row["time_s"]), int(row["note"]), int(row["velocity"])) for row in rows)
    notes = notes_of(midi)
    assert len(notes) == len(expected) > 90
    half_tick = 0.5 * 60 / (float(options[1]) if "--tempo" in options else 120) / 480
    assert sorted(note[1:] for note in notes) == sorted(event[1:] for event in expected)
    assert all(abs(note[0] - event[0]) < 1.01 * half_tick for note, event in zip(notes, expected))


def test_each_stem_is_a_track_with_its_name(tmp_path):
    midi, _ = written(tmp_path)
    assert midi.type == 1 and midi.ticks_per_beat == 480
    assert [track.name for track in midi.tracks] == ["", "hihat", "kick", "snare"]
    assert all(track[-1].type == "end_of_track" for track in midi.tracks)


def test_every_note_ends_after_five_milliseconds_or_more(tmp_path):
    midi, _ = written(tmp_path, "--note-length", "5")
    now, begun, ended = 0.0, {}, 0
    for message in midi:
        now += message.time
        if message.type == "note_on":
            begun[message.note] = now
        elif message.type == "note_off":
            assert now - begun.pop(message.note) > 0.005 - 0.6 / 960
            ended += 1
    assert ended > 90 and not begun


def test_quantised_notes_are_on_the_grid(tmp_path):
    midi, _ = written(tmp_path, "--tempo", "138", "--quantise", "1/16", "--format", "0")
    tick = 0
    for message in midi.tracks[0]:
        tick += message.time
        assert message.type != "note_on" or tick % 120 == 0
