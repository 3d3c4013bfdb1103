"""Keys of earlier versions: files and run folders that have them are read, and one line says what became of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config, parse_settings
from kolmocli.errors import UsageError
from kolmocli.training.library import train
from tests.conftest import Run

FAMILIES = "families: {runs: {levels: [{}]}}\n"


def noted(tmp_path: Path, text: str) -> list[str]:
    """What loading a file with this text says of its keys."""
    (tmp_path / "c.yaml").write_text(FAMILIES + text)
    said: list[str] = []
    assert load_config(tmp_path / "c.yaml", note=said.append) == load_config(tmp_path / "c.yaml")
    return [line.removeprefix(f"{tmp_path}/") for line in said]


def test_rollouts_are_not_stopped_any_more(tmp_path: Path) -> None:
    (said,) = noted(tmp_path, "training: {stop_hopeless: 0.1, baseline: value}")
    assert said.startswith("c.yaml: training.stop_hopeless does nothing any more: ")
    assert "stop_hopeless" not in load_config(tmp_path / "c.yaml").model_dump()["training"]


@pytest.mark.parametrize("text", ["", "training: {stop_hopeless: null}", "training: {steps: 3}"])
def test_what_was_never_switched_on_is_not_mentioned(tmp_path: Path, text: str) -> None:
    assert noted(tmp_path, text) == []


def test_what_is_gone_is_refused_where_somebody_types_it(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(FAMILIES)
    with pytest.raises(
        UsageError, match=r"^--set training.stop_hopeless=0.1: .* does nothing any more: .*; remove it$"
    ):
        load_config(tmp_path / "c.yaml", parse_settings(["training.stop_hopeless=0.1"]))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hints: {most: 0.9, gain: 0.2}", "hints: {most: 0.9, gain: 0.2}", "hints is called methods.hints now"),
        ("self_play: {share: 0.5}", "self_play: {share: 0.5}", "self_play is called methods.self_play now"),
        ("screening: {draws: 3}", "screening: {draws: 3}", "screening is called methods.screening now"),
        ("pilot: {draws: 3}", "pilot: {draws: 3}", "pilot is called methods.pilot now"),
        ("refill: {most: 1.5}", "refill: {most: 1.5}", "refill is called methods.refill now"),
        ("training: {shaping: 0.3}", "shaping: {weight: 0.3}", "training.shaping is called methods.shaping.weight now"),
    ],
)
def test_methods_have_one_section(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert noted(tmp_path, old) == [f"c.yaml: {said}"]
    before = load_config(tmp_path / "c.yaml")
    assert noted(tmp_path, f"methods: {{{new}}}") == []
    assert load_config(tmp_path / "c.yaml") == before
    assert len(before.methods) == 1


def test_what_an_old_run_did_not_use_leaves_no_trace(tmp_path: Path) -> None:
    """A run's own file has every section, with its defaults."""
    assert noted(tmp_path, "") == []
    plain = load_config(tmp_path / "c.yaml")
    unused = (
        "hints: {most: 0.0, start: 0.0, gain: 0.1}\nscreening: {draws: 1, probes: 0.1, visits: 4}\n"
        "pilot: {draws: 1, rollouts: 2}\nrefill: {most: 1.0}\ntraining: {shaping: 0.0}\n"
        "self_play: {share: 0.0, proposals: 16, band: 0.25, slots: 1, weight: 1.0}\n"
    )
    assert noted(tmp_path, unused) == []
    assert load_config(tmp_path / "c.yaml") == plain


def test_settings_without_the_switch_are_as_they_were(tmp_path: Path) -> None:
    assert noted(tmp_path, "screening: {probes: 0.3}") == []
    file = tmp_path / "c.yaml"
    assert load_config(file).methods == {}
    said: list[str] = []
    config = load_config(file, parse_settings(["screening.draws=3"]), note=said.append)
    assert said == ["--set screening.draws=3: screening.draws is called methods.screening.draws now"]
    assert config.model_dump()["methods"] == {"screening": {"draws": 3, "probes": 0.3, "visits": 4}}
    assert load_config(file, {"methods.screening.draws": 3}) == config


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hints:\n  most: 5", "c.yaml:3: methods.hints.most: must be <= 1, got 5"),
        ("methods:\n  hints:\n    mots: 5", "c.yaml:4: methods.hints.mots: unknown key; did you mean most?"),
        ("training:\n  shaping: -1", "c.yaml:3: methods.shaping.weight: must be >= 0, got -1"),
        ("hints: 3", "c.yaml:2: methods.hints: must be keys with values, got 3"),
        ("methods:\n  hints: 3", "c.yaml:3: methods.hints: must be keys with values, got 3"),
    ],
)
def test_a_mistake_is_told_where_it_was_written(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.yaml").write_text(FAMILIES + text)
    with pytest.raises(UsageError) as refused:
        load_config(tmp_path / "c.yaml")
    assert str(refused.value).removeprefix(f"{tmp_path}/") == said


def test_a_mistake_of_a_former_key_names_the_flag(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(FAMILIES)
    with pytest.raises(UsageError, match=r"^--set hints.most=5: methods.hints.most: must be <= 1, got 5$"):
        load_config(tmp_path / "c.yaml", {"hints.most": 5})


def test_a_method_that_nothing_registers_is_refused_where_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(FAMILIES + "methods:\n  hintz: {}")
    with pytest.raises(UsageError, match=r"c\.yaml:3: methods\.hintz: no method hintz; did you mean hints\?$"):
        load_config(file)
    assert load_config(file, to_look=True).methods == {"hintz": {}}  # a run is evaluated without its plugins
    file.write_text(FAMILIES)
    with pytest.raises(UsageError, match=r"methods\.far: no method far; there are .*hints.* and --plugin names"):
        load_config(file, {"methods.far.off": 1})


def test_commands_and_functions_say_it(kolmo: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(FAMILIES + "hints: {most: 0.5}\n")
    said = f"{file}: hints is called methods.hints now\n"
    for command in (["curriculum", "validate"], ["train", "--dry-run"]):
        done = kolmo(*command, file)
        assert (done.returncode, done.stderr) == (0, said)
    capsys.readouterr()
    for quiet in (True, False):
        with pytest.raises(UsageError, match="must be >= 0"):
            train(file, steps=-1, quiet=quiet)
        assert capsys.readouterr().err == ("" if quiet else said)


def test_a_configuration_in_python_may_have_them_too() -> None:
    families = {"runs": {"levels": [{}]}}
    old = Config.model_validate({"families": families, "hints": {"most": 0.5}, "training": {"shaping": 0.5}})
    new = {"hints": {"most": 0.5}, "shaping": {"weight": 0.5}}
    assert old == Config.model_validate({"families": families, "methods": new})
    assert Config.model_validate(old.model_dump(mode="json")) == old


@pytest.mark.parametrize("data", [None, 3, [], {"hints": 3}, {"training": 3}, {"methods": 3, "hints": {"most": 1}}])
def test_what_is_no_curriculum_is_left_to_the_schema(data: object) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Config.model_validate(data)
