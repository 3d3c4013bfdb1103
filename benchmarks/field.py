"""Cases of the field: answers, programs and files as other projects have them, and how many are judged rightly here.

    python benchmarks/field.py --field DIR                 # all sections that DIR has files for
    python benchmarks/field.py --field DIR pairs speed     # these

DIR (or the environment's KOLMO_FIELD) holds `pairs.jsonl`, `mathverify.jsonl` and what other sections read. A section is a
function from that folder to whether its figures hold; a module `field_NAME.py` next to this one adds its own `SECTIONS`.
`--wrong` names every case that is judged wrongly.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kolmocli.errors import EXIT_CHECK, EXIT_ENVIRONMENT, EXIT_USAGE
from kolmocli.tasks.answers.formulas import described, installed
from kolmocli.tasks.answers.places import has_form
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary

Section = Callable[[Path, bool], bool]
"""(folder of the cases, whether to name wrong ones) to whether the figures hold."""


def pairs(folder: Path, wrong: bool) -> bool:
    """Answers with a box, each with what is right: no wrong one may pass, and few right ones fail."""
    cases = list(rows(folder / "pairs.jsonl"))
    counts = counted("pairs", cases, [one.passed for one in judged(cases)], wrong)
    print(f"pairs: {said(counts)}; {described('auto')}")
    return counts[False, True] == 0 and counts[True, False] <= 0.03 * len(cases)


def mathverify(folder: Path, wrong: bool) -> bool:
    """math-verify's own tests. Strictly: a text without a place for its answer is put in a box as it is. As read: where a
    sentence is around the answer, what a reader would take for it counts, too."""
    cases = list(rows(folder / "mathverify.jsonl"))
    boxed = [
        case if has_form(case["completion"]) else {**case, "completion": f"\\boxed{{{case['completion']}}}"}
        for case in cases
    ]
    strict = [one.passed for one in judged(boxed)]
    lenient = [bool(one.lenient) for one in judged(cases)]
    read = [a or (b and is_prose(case["completion"])) for a, b, case in zip(strict, lenient, cases, strict=True)]
    print(f"mathverify, strictly: {said(counted('mathverify', cases, strict, False))}")
    counts = counted("mathverify", cases, read, wrong)
    print(f"mathverify, as read: {said(counts)}; {described('auto')}")
    return counts[False, True] == 0 and counts[True, True] >= 205


def is_prose(text: str) -> bool:
    """Whether there is a sentence around the answer."""
    return len(re.findall(r"(?<![\\A-Za-z{])[A-Za-z]{2,}", text)) > 2 or ":" in text


def speed(folder: Path, wrong: bool) -> bool:
    """Answers judged a second: where no formula is parsed, and where one is. Every text is another one."""
    plain = [
        {"answer": str(7 * i), "completion": f"So it is {i} times 7.\n\\boxed{{{7 * i + i % 2}}}"} for i in range(4000)
    ]
    formulas = [{"answer": f"x^2+{i}x", "completion": f"\\boxed{{x(x+{i})}}"} for i in range(1, 600)]
    formulas += [
        {"answer": f"\\frac{{\\sqrt{{{i}}}}}{{{i}}}", "completion": f"\\boxed{{\\frac{{1}}{{\\sqrt{{{i}}}}}}}"}
        for i in range(2, 400)
    ]
    judged([{"answer": "2x", "completion": "\\boxed{x+x}"}])  # the process is there
    rates = []
    for name, cases in (("no formula", plain), ("a formula each", formulas)):
        begun = time.perf_counter()
        passed = sum(one.passed for one in judged(cases))
        rates.append(len(cases) / (time.perf_counter() - begun))
        print(f"speed, {name}: {rates[-1]:,.0f} answers a second ({passed:,} of {len(cases):,} pass)")
    return rates[0] >= 1_000 and rates[1] >= 100


def rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def judged(cases: list[dict[str, Any]]) -> list[Outcome]:
    """One batch, as training judges."""
    tasks = [question({"question": "?", "answer": case["answer"]}) for case in cases]
    return SandboxJudge(None, Terms(Binary()))(tasks, [case["completion"] for case in cases])


def counted(name: str, cases: list[dict[str, Any]], passed: list[bool], wrong: bool) -> Counter[tuple[bool, bool]]:
    """How many by (is right, passes)."""
    for case, passes in zip(cases, passed, strict=True):
        if wrong and passes != case["right"]:
            what = "passes" if passes else "is refused"
            print(f"  {name}: {what}: {case['answer'][:60]!r} {case['completion'][-100:]!r}")
    return Counter((case["right"], passes) for case, passes in zip(cases, passed, strict=True))


def said(counts: Counter[tuple[bool, bool]]) -> str:
    right, others = counts[True, True] + counts[True, False], counts[False, True] + counts[False, False]
    return f"{counts[True, True]} of {right} right accepted, {counts[False, False]} of {others} wrong refused"


SECTIONS: dict[str, Section] = {"pairs": pairs, "mathverify": mathverify, "speed": speed}
for _file in sorted(Path(__file__).parent.glob("field_*.py")):
    _spec = importlib.util.spec_from_file_location(_file.stem, _file)
    assert _spec is not None and _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[_file.stem] = _module
    _spec.loader.exec_module(_module)
    SECTIONS |= _module.SECTIONS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
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
    held = {name: SECTIONS[name](Path(chosen.field), chosen.wrong) for name in chosen.sections or SECTIONS}
    missed = [name for name, holds in held.items() if not holds]
    print(
        f"figures hold: {', '.join(name for name in held if held[name]) or 'none'}; missed: {', '.join(missed) or 'none'}"
    )
    return EXIT_CHECK if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
