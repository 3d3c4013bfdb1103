"""Controllers of plugins in a curriculum file: a section of their name, checked as those that come with kolmo."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest
import yaml

from kolmocli.config.file import dump_config, load_config
from kolmocli.contributed import ENTRY_POINTS
from kolmocli.curriculum import KINDS
from kolmocli.errors import UsageError
from kolmocli.registry import load_plugin

FILE = "families:\n  f: {levels: [{}, {}]}\ncontroller:\n"
PLUGIN = """\
from __future__ import annotations
from typing import Annotated
from kolmocli.curriculum import Ladder, LevelBase, Setting, register_controller

@register_controller("mine")
class Mine(LevelBase):
    level = 1.0
    def __init__(
        self, ladder: Ladder, *, gain: Annotated[float, Setting("levels per step", above=0)] = 0.1, probes: float = 0.0
    ) -> None:
        super().__init__(ladder)
    def observe(self, results): return []
"""


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENTRY_POINTS[KINDS.group]:
        KINDS.get(name)  # a module that is imported already would not register it again
    for name in ("_things", "_owners"):
        monkeypatch.setattr(KINDS, name, dict(getattr(KINDS, name)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    path = tmp_path / "c.yaml"
    path.write_text(FILE + "  kind: mine\n  mine: {gain: 0.2}\n")
    return path


def complaint(path: Path, overrides: dict[str, object] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load_config(path, overrides)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


@pytest.fixture
def plugged(file: Path) -> Path:
    load_plugin(str(file.with_name("mine.py")))
    return file


def test_a_file_alone_imports_nothing(file: Path) -> None:
    said = "c.yaml:4: controller.kind: must be one of rasch, integral, staircase, uniform, posterior, pool, thompson, window, learnability, grade_adaptive, sec, sequential; got 'mine'"
    assert complaint(file).startswith(said)
    load_plugin(str(file.with_name("mine.py")))
    assert load_config(file).controller.kind == "mine"


def test_its_section_is_read_and_the_keys_of_all_controllers_reach_it(plugged: Path) -> None:
    section = load_config(plugged, {"controller.probes": 0.3}).controller
    assert section.settings("mine") == {"gain": 0.2, "probes": 0.3}
    assert section.settings("rasch") == {"probes": 0.3, "review": 0.0, "slope": 1.0, "drift": 0.1, "slew": 1.5}
    assert section.settings("uniform") == {}
    assert load_config(plugged, {"controller.mine.gain": 2}).controller.settings("mine")["gain"] == 2


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("  mine: {gian: 1}", "c.yaml:4: controller.mine.gian: unknown key; did you mean gain?"),
        ("  mine: {gain: 0}", "c.yaml:4: controller.mine.gain: must be > 0, got 0"),
        ("  kind: mine\n  mine: {gain: fast}", "c.yaml:5: controller.mine.gain: must be a number, got 'fast'"),
        ("  mine: {probes: 0.1}", "c.yaml:4: controller.mine.probes: unknown key; there are gain"),
        ("  mine: 3", "c.yaml:4: controller.mine: must be a section of keys, got 3"),
        ("  mien: {gain: 1}", "c.yaml:4: controller.mien: unknown key; did you mean mine?"),
        (
            "  kind: mien",
            "c.yaml:4: controller.kind: must be one of rasch, integral, staircase, uniform, posterior, pool, thompson, window, learnability, grade_adaptive, sec, sequential, "
            "mine; got 'mien'; did you mean mine?",
        ),
        (
            "  kind: [mine]",
            "c.yaml:4: controller.kind: must be one of rasch, integral, staircase, uniform, posterior, pool, thompson, window, learnability, grade_adaptive, sec, sequential, "
            "mine; got ['mine']; did you mean mine?",
        ),
        ("  kind: mine\n  rasch: {slope: 0}", "c.yaml:5: controller.rasch.slope: must be > 0, got 0"),
    ],
)
def test_a_mistake_in_it_is_one_line_with_line_key_and_mend(plugged: Path, lines: str, said: str) -> None:
    plugged.write_text(FILE + lines + "\n")
    assert complaint(plugged) == said


def test_a_mistake_of_a_flag_names_the_flag(plugged: Path) -> None:
    assert complaint(plugged, {"controller.mine.gian": 1}) == (
        "--set controller.mine.gian=1: controller.mine has no key gian; did you mean gain?"
    )
    assert complaint(plugged, {"controller.mine.gain": -1}) == (
        "--set controller.mine.gain=-1: controller.mine.gain: must be > 0, got -1"
    )


def test_what_is_dumped_loads_again(plugged: Path) -> None:
    config = load_config(plugged)
    plugged.write_text(dump_config(config))
    assert yaml.safe_load(plugged.read_text())["controller"]["mine"] == {"gain": 0.2}
    assert load_config(plugged) == config


def test_a_kind_that_a_file_does_not_name_leaves_no_trace_in_it(file: Path) -> None:
    file.write_text(FILE + "  kind: pool\n")
    before = dump_config(load_config(file))
    load_plugin(str(file.with_name("mine.py")))
    assert dump_config(load_config(file)) == before


@pytest.mark.parametrize("overrides", [{}, {"controller.others.gain": 0.3}])
def test_an_installed_distribution_brings_one_that_is_imported_when_it_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, overrides: dict[str, object]
) -> None:
    info = file.parent / "controllers_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: controllers-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kolmocli.controllers]\nothers = module_of_others\n")
    (file.parent / "module_of_others.py").write_text(PLUGIN.replace('"mine"', '"others"'))
    monkeypatch.syspath_prepend(file.parent)
    monkeypatch.delitem(sys.modules, "module_of_others", raising=False)
    file.write_text(FILE + "  kind: rasch\n")
    load_config(file)
    assert "module_of_others" not in sys.modules
    file.write_text(FILE + "  kind: others\n  others: {gain: 0.2}\n")
    settings = load_config(file, overrides).controller.settings("others")
    assert settings["gain"] == overrides.get("controller.others.gain", 0.2)


def test_a_configuration_goes_to_other_processes(plugged: Path) -> None:
    config = load_config(plugged)
    sent = pickle.dumps(config)
    assert pickle.loads(sent) == config
    del KINDS._things["mine"]
    there = pickle.loads(sent)
    assert (there.controller.kind, there.controller.target) == ("mine", 0.5)
    assert there.training == config.training
