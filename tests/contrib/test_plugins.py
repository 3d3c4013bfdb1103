"""What is contributed is known by name, imported when it is asked for, and leaves no trace in files that do not use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.config.file import dump_config, load_config
from kolmocli.config.methods import METHOD_SETTINGS
from kolmocli.contributed import ENTRY_POINTS
from kolmocli.curriculum import KINDS, LevelBase, register_controller
from kolmocli.errors import UsageError

FILE = "families:\n  f: {levels: [{}, {}]}\ncontroller:\n"
CONTROLLERS = ENTRY_POINTS["kolmocli.controllers"]


def test_nothing_is_imported_before_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(FILE + "  kind: window\n  window: {size: 3}\n")
    code = (
        "import sys\nfrom kolmocli.config.file import load_config\nfrom kolmocli.curriculum import KINDS\n"
        "ours = lambda: sorted(name for name in sys.modules if name.startswith('kolmocli.contrib.controllers.'))\n"
        "assert 'window' in KINDS and 'window' in KINDS.names() and not ours(), ours()\n"
        f"section = load_config({str(tmp_path / 'c.yaml')!r}).controller\n"
        "assert section.settings('window') == {'size': 3, 'groups': 8, 'climb': 0.9}\n"
        "assert ours() == ['kolmocli.contrib.controllers.window'], ours()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_file_that_names_one_is_dumped_with_its_settings(tmp_path: Path, name: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FILE + f"  kind: {name}\n")
    config = load_config(path)
    path.write_text(dump_config(config))
    assert set(config.controller.model_dump()) - set(load_config(path, {"controller.kind": "rasch"}).controller.model_dump()) == {name}  # fmt: skip
    assert load_config(path) == config


def test_sections_of_an_old_run_that_change_nothing_leave_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FILE + "  kind: rasch\n")
    plain = load_config(path)
    path.write_text(FILE + "  kind: rasch\n  pool: {band: 0.25, weight: 0.2}\n  sec: {rate: 0.5, temperature: 0.2}\n")
    assert load_config(path) == plain
    path.write_text(FILE + "  kind: rasch\n  pool: {band: 0.3}\n")
    assert load_config(path).controller.settings("pool") == {"band": 0.3, "weight": 0.2}
    path.write_text(FILE + "  kind: rasch\n  pool: {band: 3}\n")
    with pytest.raises(UsageError, match=r"c\.yaml:5: controller\.pool\.band: must be <= 1, got 3"):
        load_config(path)


def test_the_names_are_taken_before_anybody_loads_them() -> None:
    code = (
        "from kolmocli.curriculum import LevelBase, register_controller\n"
        "@register_controller('sec')\nclass Mine(LevelBase):\n    level = 1.0\n    def observe(self, results): return []\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "the controller sec comes with kolmo; choose another name" in done.stderr.splitlines()[-1]


def test_the_names_are_taken_after_that_too() -> None:
    KINDS.get("sec")

    class Mine(LevelBase):
        level = 1.0

        def observe(self, results: object) -> list[str]:
            return []

    with pytest.raises(UsageError, match="the controller sec comes with kolmo; choose another name"):
        register_controller("sec")(Mine)


def test_the_page_has_the_settings_with_their_defaults() -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text()
    table = [line.split("|")[2].strip() for line in page.splitlines() if line.startswith("|")]
    for name in METHOD_SETTINGS.ours:
        fields = METHOD_SETTINGS.get(name).model_fields
        assert ", ".join(f"`{key}` ({field.default:g})" for key, field in fields.items()) in table, name
