"""Cases of the field: answers, programs and files as other projects have them, and how many are judged rightly here.

    python benchmarks/field.py --field DIR                 # all sections
    python benchmarks/field.py --field DIR pairs speed     # these

DIR (or the environment's KOLMO_FIELD) holds the cases. A section is a function from that folder to whether its figures hold.
`--wrong` names every case that is judged wrongly. The sections with programs need a Docker engine.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from field_answers import mathverify, pairs, speed
from field_archives import archives
from field_files import cases, programs, shapes
from field_scripts import scripts

from kolmocli.errors import EXIT_CHECK, EXIT_ENVIRONMENT, EXIT_OK, EXIT_USAGE
from kolmocli.tasks.answers.formulas import installed

SECTIONS: dict[str, Callable[[Path, bool], bool]] = {
    "pairs": pairs,
    "mathverify": mathverify,
    "speed": speed,
    "programs": programs,
    "shapes": shapes,
    "cases": cases,
    "scripts": scripts,
    "archives": archives,
}
"""(folder of the cases, whether to name wrong ones) to whether the figures hold."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--field", metavar="DIR", default=os.environ.get("KOLMO_FIELD"), help="folder of the cases")
    parser.add_argument("--wrong", action="store_true", help="name every case that is judged wrongly")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.sections if name not in SECTIONS]
    if unknown:
        print(f"error: no section {unknown[0]}; there are {', '.join(SECTIONS)}", file=sys.stderr)
        return EXIT_USAGE
    if not chosen.field or not Path(chosen.field).is_dir():
        print("error: where are the cases? name their folder with --field DIR, or set KOLMO_FIELD", file=sys.stderr)
        return EXIT_USAGE
    if not installed():
        print("error: math-verify is not installed; pip install 'kolmocli[math]'", file=sys.stderr)
        return EXIT_ENVIRONMENT
    missed = [
        name for name in chosen.sections or SECTIONS if not SECTIONS[name](Path(chosen.field).resolve(), chosen.wrong)
    ]
    print(f"figures missed: {', '.join(missed) or 'none'}")
    return EXIT_CHECK if missed else EXIT_OK


if __name__ == "__main__":
    raise SystemExit(main())
