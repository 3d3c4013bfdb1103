"""Names that a file may use: of kolmo, of an installed distribution, of a plugin; and what is said when one fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli import registry
from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.registry import Registry, load_plugin

GROUP = "kolmocli.shapes"

SHAPES: Registry[str] = Registry("shape", GROUP)
"""What plugins of these tests register in: each test has it empty."""

PLUGIN = "from tests.test_registry import SHAPES\n"


@pytest.fixture(autouse=True)
def shapes(monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    for name, value in vars(Registry("shape", GROUP)).items():
        monkeypatch.setattr(SHAPES, name, value)
    SHAPES.add("square", "four", builtin=True, module="kolmocli.squares")
    SHAPES.add("circle", "none", builtin=True, module="kolmocli.circles")
    return SHAPES


def distribution(folder: Path, modules: dict[str, str], entry_points: str) -> None:
    """What an installed distribution leaves on the path: its modules and its metadata."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    info = folder / "shapes_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry_points}")


def line(error: pytest.ExceptionInfo[UsageError], folder: Path) -> str:
    said = str(error.value)
    assert "\n" not in said
    return said.replace(f"{folder}/", "")


def test_built_in_names_come_first_and_as_they_were_added(shapes: Registry[str]) -> None:
    shapes.add("blob", "many")
    assert shapes.names() == ["square", "circle", "blob"]
    assert shapes.loaded() == {"square": "four", "circle": "none", "blob": "many"}
    assert shapes.get("circle") == "none"


def test_one_of_many_is_made_when_it_is_named(shapes: Registry[str]) -> None:
    made: list[str] = []

    def make(name: str) -> str:
        if not name.isdigit():
            raise UsageError(f"no polygon with {name} corners")
        made.append(name)
        return f"{name} corners"

    shapes.add_many("polygon", make)
    assert "polygon/7" in shapes
    assert "polygons/7" not in shapes
    assert not made
    assert [shapes.get("polygon/7"), shapes.get("polygon/7")] == ["7 corners"] * 2
    assert made == ["7"]
    assert shapes.names() == ["square", "circle", "polygon/7"]
    with pytest.raises(UsageError, match="no polygon with many corners"):
        shapes.get("polygon/many")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cirle", "no shape cirle; did you mean circle?"),
        ("zzz", "no shape zzz; there are square, circle"),
    ],
)
def test_an_unknown_name_is_answered_with_the_known(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        SHAPES.get(name)
    assert str(error.value) == said


def test_a_built_in_name_is_refused_to_others() -> None:
    with pytest.raises(UsageError) as error:
        SHAPES.add("square", "mine")
    assert str(error.value) == "the shape square comes with kolmo; choose another name"
    assert SHAPES.get("square") == "four"


def test_a_plugin_file_registers_and_runs_again(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN + "SHAPES.add('blob', 'one', module=__name__)\n")
    load_plugin(str(plugin))
    assert SHAPES.get("blob") == "one"
    plugin.write_text(PLUGIN + "SHAPES.add('blob', 'two', module=__name__)\n")
    load_plugin(str(plugin))
    assert SHAPES.get("blob") == "two"
    assert list(tmp_path.iterdir()) == [plugin]


def test_a_plugin_has_a_module_that_type_hints_and_dataclasses_find(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import get_type_hints\n"
        f"{PLUGIN}class Side: ...\n@dataclass\nclass Shape:\n    side: Side\n"
        "SHAPES.add('blob', get_type_hints(Shape)['side'].__name__, module=__name__)\n"
    )
    load_plugin(str(plugin))
    assert SHAPES.get("blob") == "Side"


def test_a_name_belongs_to_the_file_that_was_first(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    for plugin in (first, second):
        plugin.write_text(f"{PLUGIN}\nSHAPES.add('blob', {plugin.stem!r}, module=__name__)\n")
    load_plugin(str(first))
    with pytest.raises(UsageError) as error:
        load_plugin(str(second))
    assert line(error, tmp_path) == "plugin second.py:3: the shape blob is registered by first.py; choose another name"
    assert SHAPES.get("blob") == "first"


def test_a_plugin_may_be_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shapes_of_mine.py").write_text(PLUGIN + "SHAPES.add('blob', 'of a module', module=__name__)\n")
    monkeypatch.syspath_prepend(tmp_path)
    load_plugin("shapes_of_mine")
    assert SHAPES.get("blob") == "of a module"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n1 / 0\n", "plugin bad.py:2: ZeroDivisionError: division by zero"),
        ("def f():\n    raise KeyError('k')\n\nf()\n", "plugin bad.py:2: KeyError: 'k'"),
        ("import json\njson.loads('{')\n", "plugin bad.py:2: JSONDecodeError: Expecting property name"),
        ("x = 1\ny = (\n", "plugin bad.py:2: SyntaxError: '(' was never closed"),
        ("import no_such_thing\n", "plugin bad.py:1: ModuleNotFoundError: No module named 'no_such_thing'"),
        ("raise ValueError('one\\ntwo')\n", "plugin bad.py:1: ValueError: one two"),
        ("raise NotImplementedError\n", "plugin bad.py:1: NotImplementedError"),
        ("import sys\nsys.exit(0)\n", "plugin bad.py:2: SystemExit: 0"),
        (PLUGIN + "SHAPES.get('cirle')\n", "plugin bad.py:2: no shape cirle; did you mean circle?"),
    ],
)
def test_a_plugin_that_fails_is_one_line_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(UsageError) as error:
        load_plugin(str(tmp_path / "bad.py"))
    assert line(error, tmp_path).startswith(said)
    assert error.value.__cause__ is not None
    assert "kolmo_plugin_bad" not in sys.modules


def test_a_module_that_fails_is_one_line_with_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad_shapes.py").write_text("x = 1\nraise ValueError(x)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError) as error:
        load_plugin("bad_shapes")
    assert line(error, tmp_path) == "plugin bad_shapes.py:2: ValueError: 1"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no/such.py", "plugin no/such.py: no such file"),
        ("./no_such.py", "plugin ./no_such.py: no such file"),
        ("no_such_thing", "plugin no_such_thing: no module of this name is installed; a file ends in .py"),
        ("json.no_such_thing", "plugin json.no_such_thing: no module of this name is installed; a file ends in .py"),
    ],
)
def test_a_plugin_that_is_not_there_is_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_plugin(name)
    assert str(error.value) == said


def test_entry_points_are_named_at_once_and_imported_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {"shapes_of_others": PLUGIN + "SHAPES.add('star', 'five', module=__name__)\n"}
    distribution(tmp_path, modules, "star = shapes_of_others\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert SHAPES.names() == ["square", "circle", "star"]
    assert "star" not in SHAPES.loaded()
    assert "shapes_of_others" not in sys.modules
    assert SHAPES.get("star") == "five"
    assert "star" in SHAPES.loaded()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise ValueError('no')\n", "entry point moon = bad_moon: bad_moon.py:1: ValueError: no"),
        ("x = 1\n", "entry point moon = bad_moon: importing bad_moon registers no shape moon"),
    ],
)
def test_an_entry_point_that_fails_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    distribution(tmp_path, {"bad_moon": text}, "moon = bad_moon\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bad_moon", raising=False)
    with pytest.raises(UsageError) as error:
        SHAPES.get("moon")
    assert line(error, tmp_path) == said


@pytest.mark.parametrize("name", ["quickstart", "digits", "kolmogorov", "python"])
def test_a_file_of_what_is_built_in_reads_no_metadata(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes ten milliseconds, for every name."""
    monkeypatch.setattr(Registry, "_installed", lambda self: pytest.fail(f"entry points of {self.group} were read"))
    assert load_config(find_curriculum(name)).families


def test_it_costs_no_import_of_the_metadata_of_distributions() -> None:
    code = f"import sys, {registry.__name__}; assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
