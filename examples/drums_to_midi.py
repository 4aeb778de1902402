# SPDX-License-Identifier: Apache-2.0
"""Turns stems of drums into a MIDI file and compares it with what was played, in twenty lines: drums_to_midi.py STEMS PLAYED.csv OUT.mid"""

import sys

import sonde


def main() -> int:
    if len(sys.argv) != 4:
        print("usage: drums_to_midi.py STEMS PLAYED.csv OUT.mid", file=sys.stderr)
        return 2
    stems, played, output = sys.argv[1:]
    try:
        made = sonde.separate.midi(stems, output=output, reference=played, gap="hihat=50", tempo="100")
        events = sum(stem["events"] for stem in made.facts["stems"])
        print(f"{output}: {events} events, F {made.facts['score']['pooled']['merged_50_ms']['f_measure']:.3f}")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
