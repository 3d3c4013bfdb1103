"""The guide: what it learns from, what it sees, and that it finds what the search alone does not."""

from __future__ import annotations

import math
import random
import runpy
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from kolmocli.language.coder import coded_bits
from kolmocli.language.guide import NetworkGuide, shipped_guide
from kolmocli.language.guide.features import features
from kolmocli.language.guide.network import SHIPPED
from kolmocli.language.guide.teacher import spelled, unzippings, value_of
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import Program, parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.language.search.budget import Budget
from kolmocli.language.search.known import weave_of
from kolmocli.language.search.likely import View, look
from kolmocli.language.search.solver import solve
from kolmocli.language.search.strands import Strand, plain, woven_in, woven_on
from kolmocli.language.search.weaves import first_guess

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def view(sequence: tuple[int, ...]) -> View:
    budget = Budget(None, math.inf)
    found = look(first_guess(plain(sequence), budget), 0, budget)
    assert found is not None
    return found


def test_a_program_is_taken_apart_as_it_was_made() -> None:
    rng, woven = random.Random(4), 0
    for _ in range(200):
        pair = sample(rng, PUBLISHED)
        path = unzippings(pair.program, tuple(pair.sequence))
        assert path is not None
        weave = plain(pair.sequence)
        for pairs, end in path:
            weave = woven_on(weave, pairs, end) if end else woven_in(weave, pairs)
            assert value_of(weave) == tuple(pair.sequence)
        woven += len(path)
    assert woven > 100


def test_a_tail_stands_as_far_inside_as_it_can() -> None:
    core, short, long = Strand((1, 2, 3, 4), False), Strand((7, 8), True), Strand((5, 5, 5, 5, 5), True)
    tail = Strand((9, 9), False)
    assert spelled((core, short, tail)) == (Strand((1, 2, 3, 4, 9, 9), False), short)
    assert spelled((core, long, tail)) == (core, long, tail)
    for weave in ((core, short, tail), (core, long, tail), (core, short, tail, long, tail)):
        assert value_of(spelled(weave)) == value_of(weave)


def test_another_sequence_teaches_nothing() -> None:
    program = parse("sequence_1 = range_func_up(3, 5)")
    assert unzippings(program, (3, 4, 5)) == []
    assert unzippings(program, (3, 4, 6)) is None
    assert unzippings(Program(()), (1,)) is None


def test_features_are_finite_for_whatever_items() -> None:
    for sequence in [(0,) * 40, tuple(range(50)), (10**17 - 1, -(10**17) + 1) * 20, (1, 2, 3, 4)]:
        looked = view(sequence)
        found = features(looked)
        assert found.shape == (len(looked.ways), shipped_guide().features)
        assert np.isfinite(found).all()


def test_probabilities_add_up_to_one() -> None:
    looked = view(tuple(sample(random.Random(2)).sequence))
    chances = np.exp(shipped_guide().log_probs(looked))
    assert len(chances) == len(looked.ways) + 1
    assert chances.sum() == pytest.approx(1.0)


def test_weights_are_numbers_and_no_code() -> None:
    with np.load(str(files("kolmocli.language.guide") / SHIPPED), allow_pickle=False) as kept:
        assert {"mean", "scale", "weight.0", "bias.0"} <= set(kept)
        assert all(np.isfinite(kept[name]).all() for name in kept)


def test_the_network_is_the_one_that_was_trained() -> None:
    torch = pytest.importorskip("torch")
    generator = np.random.default_rng(0)
    looked = view(tuple(sample(random.Random(2)).sequence))
    seen = features(looked)
    width = seen.shape[1]
    weights = {
        "mean": seen.mean(0), "scale": seen.std(0) + 1,
        "weight.0": generator.normal(size=(8, width + 1)), "bias.0": generator.normal(size=8),
        "weight.1": generator.normal(size=(1, 8)), "bias.1": generator.normal(size=1),
    }  # fmt: skip
    normal = torch.tensor((seen - weights["mean"]) / weights["scale"])
    ways = torch.nn.functional.pad(normal, (0, 1))
    none = torch.cat([normal[:1], torch.ones(1, 1)], dim=1)
    hidden = torch.relu(
        torch.cat([ways, none]).double() @ torch.tensor(weights["weight.0"]).T + torch.tensor(weights["bias.0"])
    )
    scores = (hidden @ torch.tensor(weights["weight.1"]).T + torch.tensor(weights["bias.1"]))[:, 0]
    assert NetworkGuide(weights).log_probs(looked) == pytest.approx(scores.log_softmax(0).tolist(), abs=1e-4)


def test_three_interleavings_are_found_in_steps_that_do_not_suffice_alone() -> None:
    shorter, rng = 0, random.Random(21)
    for _ in range(400):
        pair = sample(rng, PUBLISHED)
        if len(unzippings(pair.program, tuple(pair.sequence)) or ()) < 3:
            continue
        alone = solve(pair.sequence, seconds=math.inf, steps=200_000)
        guided = solve(pair.sequence, seconds=math.inf, steps=200_000, guide=shipped_guide())
        assert evaluate(guided.program) == list(pair.sequence)
        shorter += guided.bits < alone.bits
        if shorter == 3:
            return
    pytest.fail("the guide did not help with three sequences")


def test_the_weave_of_a_merged_program() -> None:
    program = parse(
        "sequence_1 = range_func_up(1, 4)\nsequence_2 = range_func_up(11, 12)\nsequence_3 = interleave(sequence_1, sequence_2)"
    )
    assert unzippings(program, (1, 11, 2, 12, 3, 4)) == [(2, 0)]
    assert spelled(weave_of(program)) == (Strand((1, 2, 3, 4), False), Strand((11, 12), True))


def run(script: str, *arguments: str, patch: pytest.MonkeyPatch) -> None:
    patch.syspath_prepend(str(BENCHMARKS))
    patch.setattr(sys, "argv", [script, *arguments])
    runpy.run_path(str(BENCHMARKS / script), run_name="__main__")


def test_what_is_taught_is_read_by_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    taught = str(tmp_path / "taught.npz")
    run("guide_train.py", "--pairs", "150", "--epochs", "3", "--updates", "0", "--out", taught, patch=monkeypatch)
    with np.load(taught) as weights:
        assert NetworkGuide(dict(weights)).features == shipped_guide().features
    run("guide_train.py", "--check", "20", "--start", taught, patch=monkeypatch)
    assert "1 interleavings" in capsys.readouterr().out


def test_lines_are_rewritten(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in a program that makes the same list twice, which some action shortens."""
    run("rewriter.py", "--pairs", "3", "--actions", "300", "--from-sampler", patch=monkeypatch)
    assert "of 900" in capsys.readouterr().out
    rewriter = runpy.run_path(str(BENCHMARKS / "rewriter.py"))
    program = parse(
        "sequence_1 = range_func_up(1, 4)\nsequence_2 = range_func_up(1, 4)\nsequence_3 = concatenate(sequence_1, sequence_2)"
    )
    bits, _, passed = rewriter["walked"](program, 2_000, random.Random(0))
    assert passed and bits < coded_bits(program)
    shorter = rewriter["without"](program, 1, 0)
    assert str(shorter).count("\n") == 1 and evaluate(shorter) == evaluate(program)
