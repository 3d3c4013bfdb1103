"""What a policy that begins with nothing learns of single sets of reasoning-gym, from right answers alone.

    python benchmarks/reasoning_sets.py                        # every set below
    python benchmarks/reasoning_sets.py gcd lcm --steps 300

Each set has a policy of its own: `tiny` (0.7 million parameters, character by character), a number of supervised steps of 32 bare
answers from all levels alike, and the greedy accuracy on held-out questions of each level. `guess` is what the most common
answer to the held-out questions of a level would reach: where accuracy is no higher, nothing was learnt. It takes
`pip install 'kolmocli[reasoning-gym]'`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.tasks.sources import evaluation_source
from kolmocli.training.train import RunOptions, train

BELOW_100 = {"min_decimals": 0, "max_decimals": 0, "min_value": 0, "max_value": 99}
Levels = list[dict[str, Any]]
SETS: dict[str, tuple[dict[str, Any], Levels | None]] = {
    "spell_backward": ({}, [{"min_word_len": a, "max_word_len": b} for a, b in ((3, 3), (4, 4), (5, 5), (6, 7))]),
    "gcd": ({}, [{"min_value": 1, "max_value": most} for most in (20, 50, 100)]),
    "lcm": ({}, [{"min_value": 1, "max_value": most} for most in (5, 10, 20)]),
    "number_sorting": (BELOW_100, [{"min_numbers": n, "max_numbers": n} for n in (2, 3, 4, 5)]),
    "letter_counting": ({}, [{"min_words": n, "max_words": n} for n in (1, 2, 3, 5)]),
    "aiw": ({}, None),
    "leg_counting": ({}, None),
    "chain_sum": ({}, None),
    "word_sequence_reversal": ({}, [{"min_words": n, "max_words": n} for n in (2, 3, 4, 5)]),
    "count_bits": ({}, [{"min_n": 1, "max_n": most} for most in (255, 999, 9999)]),
    "products": ({}, None),
    "family_relationships": ({}, None),
    "number_filtering": (BELOW_100, [{"min_numbers": n, "max_numbers": n} for n in (2, 3, 4, 5)]),
    "decimal_chain_sum": (
        {"min_terms": 2},
        [
            {"max_terms": 2, "min_digits": 1, "max_digits": 1, "min_decimal_places": 1, "max_decimal_places": 1},
            {"max_terms": 2, "min_digits": 1, "max_digits": 2, "min_decimal_places": 1, "max_decimal_places": 2},
        ],
    ),
    "basic_arithmetic": ({}, None),
    "caesar_cipher": (
        {"min_words": 1, "max_words": 1, "min_rotation": 1}, [{"max_rotation": most} for most in (1, 3, 6)],
    ),
    "base_conversion": (
        {"min_value": 0}, [{"min_base": 2, "max_base": 4, "max_value": most} for most in (15, 63, 255)],
    ),
    "fraction_simplification": (
        {"styles": ["plain"]}, [{"max_value": 9, "max_factor": 5}, {"max_value": 20, "max_factor": 9}],
    ),
    "prime_factorization": ({"min_value": 2}, [{"max_value": most} for most in (60, 200, 1000)]),
    "simple_equations": (
        {"min_terms": 2, "max_terms": 2, "operators": ["+", "-"], "operators_weights": [0.5, 0.5]},
        [{"max_value": most} for most in (9, 20, 50)],
    ),
    "complex_arithmetic": (
        {"operations": ["+", "-"], "operations_weights": [0.5, 0.5]},
        [{"min_real": -most, "max_real": most, "min_imag": -most, "max_imag": most} for most in (5, 10)],
    ),
    "rotate_matrix": (
        {}, [{"min_n": n, "max_n": n, "min_rotations": 0, "max_rotations": most} for n, most in ((2, 1), (2, 3), (3, 3))],
    ),
    "number_sequence": ({"max_complexity": 1}, [{"min_value": 0, "max_value": most} for most in (9, 30, 90)]),
    "isomorphic_strings": ({}, [{"min_string_length": 2, "max_string_length": most} for most in (3, 5, 10)]),
    "palindrome_generation": ({}, [{"min_length": n, "max_length": n} for n in (3, 5, 7)]),
    "number_format": (
        {"min_num_candidates": 2, "max_num_candidates": 2}, [{"min_n": 10, "max_n": most} for most in (99, 9999, 999999)],
    ),
    "manipulate_matrix": (
        {f"w_{other}": 0 for other in ("map", "crop", "remove_every_nth_row", "remove_every_nth_col", "zero_divisible")}
        | {"min_transforms": 1, "max_transforms": 1},
        [{"min_rows": n, "max_rows": n, "min_cols": n, "max_cols": n} for n in (2, 3)],
    ),
    "binary_alternation": ({}, [{"min_n": 4, "max_n": most} for most in (6, 9, 12)]),
    "calendar_arithmetic": ({}, [{"tasks": [task]} for task in ("is_leap_year", "weekday_of_date")]),
}  # fmt: skip
"""Options at every level, and the levels; None: those of the set's own curriculum."""


def configured(name: str, steps: int, questions: int) -> Config:
    options, levels = SETS[name]
    family: dict[str, Any] = {"task": f"reasoning_gym/{name}", "options": options}
    if levels is not None:
        family["levels"] = levels
    return Config.model_validate({
        "name": name,
        "model": {"name": "tiny", "device": "cpu"},
        "families": {name: family},
        "reward": {"kind": "binary"},
        "warmup": {"levels": 99, "until": 1, "check_every": steps, "max_steps": steps, "batch_size": 32},
        "training": {"steps": 0, "max_new_tokens": 64},
        "evaluation": {"tasks": questions},
        "report": False,
    })  # fmt: skip


def guesses(config: Config, questions: int) -> dict[str, float]:
    """By bucket: how many of its questions have the most common answer."""
    source, found = evaluation_source(config, print), {}
    for bucket in source.buckets():
        answers = Counter(source.task(bucket, i).reference for i in range(questions))
        found[str(bucket)] = answers.most_common(1)[0][1] / questions
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--questions", type=int, default=120, help="held-out ones of a set, over all its levels")
    options = parser.parse_args()
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"no such set: {', '.join(sorted(unknown))}")
    print(f"{'set':24} accuracy by level, and of a guess")
    for name in options.sets or SETS:
        config = configured(name, options.steps, options.questions)
        with tempfile.TemporaryDirectory() as folder:
            summary = train(config, RunOptions(run_dir=Path(folder) / "run", quiet=True))
        reached = {bucket: found["accuracy"] for bucket, found in summary["eval"]["before"]["buckets"].items()}
        by_guess = guesses(config, options.questions // len(reached))
        levels = sorted(reached, key=lambda bucket: int(bucket.rpartition("/")[2]))
        print(f"{name:24} " + ", ".join(f"{reached[b]:.0%} ({by_guess[b]:.0%})" for b in levels), flush=True)


if __name__ == "__main__":
    main()
