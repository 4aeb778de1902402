# SPDX-License-Identifier: Apache-2.0
"""Takes the kick drum out of a song, in twenty lines: separate_song.py SONG.wav CHECKPOINT.ckpt KICK.wav"""

import pathlib
import sys

import sonde


def main() -> int:
    if len(sys.argv) != 4:
        print("usage: separate_song.py SONG.wav CHECKPOINT.ckpt KICK.wav", file=sys.stderr)
        return 2
    song, checkpoint, kick = sys.argv[1:]
    try:
        # The configuration is the YAML file beside the checkpoint.
        name = pathlib.Path(kick)
        made = sonde.separate.run(song, checkpoint=checkpoint, output=name.parent, overlap=2, stems="kick", template=name.stem)
        result = made.facts["inputs"][0]
        print(f"{kick}: {result['seconds']:.2f} s, peak {result['outputs'][0]['peak']:.3f}")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
