"""A curriculum file is right, or one line says where it is wrong and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kolmocli.config import Config
from kolmocli.config.file import dump_config, load_config, parse_settings, read_curriculum
from kolmocli.config.tree import ConfigError
from kolmocli.errors import EXIT_USAGE, UsageError
from kolmocli.paths import curricula_dir, find_curriculum
from tests.conftest import packaged

GOOD = """\
name: small
training:
  steps: 7
  batch_size: 16
families:
  ramps:
    sampler: {modifiers: [0, 0], base_length: [3, 10]}
    levels:
      - {bases: [1, 1]}
      - bases: [2, 2]
        length: [4, 40]
"""


FOLDER = "the run folder has it:"
NO_MORE = "\\, no dot in front, nothing that cannot be printed"
SEEDS = "must be <= 18,446,744,073,709,551,615"
REPORTED = "at most 4,096, as the sandbox reports no longer value; lower it"
MILLION = "must be <= 1,000,000"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(GOOD)
    return path


def complaint(path: Path, text: str, overrides: dict[str, object] | None = None) -> str:
    """The one line that loading `text` ends with, without the folder."""
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_config(path, overrides)
    assert caught.value.exit_code == EXIT_USAGE
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


def test_a_good_file_loads_and_levels_inherit(file: Path) -> None:
    config = load_config(file)
    levels = config.families["ramps"].levels
    assert (config.training.steps, config.training.batch_size) == (7, 16)
    assert [level.base_length for level in levels] == [(3, 10), (3, 10)]
    assert levels[1].length == (4, 40)


@pytest.mark.parametrize("name", packaged())
def test_packaged_curricula_load_and_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    config = load_config(find_curriculum(name))
    saved = tmp_path / "config.yaml"
    saved.write_text(dump_config(config))
    assert load_config(saved) == config


NAMES = st.text(st.characters(exclude_characters="/\\", exclude_categories=("C", "Z")) | st.just(" "), max_size=20)


@given(steps=st.integers(0, 10**6), rate=st.floats(1e-9, 1.0), name=NAMES.filter(lambda name: not name.startswith(".")))
def test_what_is_dumped_loads_again(
    tmp_path_factory: pytest.TempPathFactory, steps: int, rate: float, name: str
) -> None:
    config = Config.model_validate(
        {
            "name": name,
            "families": {"f": {"levels": [{}]}},
            "training": {"steps": steps, "learning_rate": rate},
        }
    )
    saved = tmp_path_factory.mktemp("dump") / "config.yaml"
    saved.write_text(dump_config(config), encoding="utf-8")
    assert load_config(saved) == config


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("batch_size: 16", "batch_sise: 16", "c.yaml:4: training.batch_sise: unknown key; did you mean batch_size?"),
        ("training:", "trainin:", "c.yaml:2: trainin: unknown key; did you mean training?"),
        ("steps: 7", "steps: many", "c.yaml:3: training.steps: must be a whole number, got 'many'"),
        ("steps: 7", "steps: 1.5", "c.yaml:3: training.steps: must be a whole number, got 1.5"),
        ("steps: 7", "steps:", "c.yaml:3: training.steps: must be a whole number, got nothing"),
        ("steps: 7", "steps: true", "c.yaml:3: training.steps: must be a number, got true"),
        ("steps: 7", "hindsight: on", "c.yaml:3: training.hindsight: must be a number, got true"),
        ("length: [4, 40]", "length: [true, 40]", "c.yaml:8: families.ramps.levels: must be a number, got true"),
        ("steps: 7", "steps: -1", "c.yaml:3: training.steps: must be >= 0, got -1"),
        ("steps: 7", "learning_rate: 0", "c.yaml:3: training.learning_rate: must be > 0, got 0"),
        ("steps: 7", "learning_rate: fast", "c.yaml:3: training.learning_rate: must be a number, got 'fast'"),
        (
            "steps: 7",
            "baseline: rlo",
            "c.yaml:3: training.baseline: must be one of rloo, ema, value, none, grpo, maxrl; got 'rlo'; did you mean rloo?",
        ),
        (
            "batch_size: 16",
            "batch_size: 15",
            "c.yaml:2: training: batch_size 15 is not a multiple of group_size 8",
        ),
        (
            "length: [4, 40]",
            "length: [40, 4]",
            "c.yaml:11: families.ramps.levels[1].length: 40 is above 4",
        ),
        (
            "length: [4, 40]",
            "length: [4]",
            "c.yaml:11: families.ramps.levels[1].length[1]: is missing; add it",
        ),
        (
            "length: [4, 40]",
            "length: 4",
            "c.yaml:11: families.ramps.levels[1].length: must be a list, got 4",
        ),
        (
            "length: [4, 40]",
            "lenght: [4, 40]",
            "c.yaml:11: families.ramps.levels[1].lenght: unknown key; did you mean length?",
        ),
        (
            "base_length: [3, 10]",
            "base_lenght: [3, 10]",
            "c.yaml:7: families.ramps.sampler.base_lenght: unknown key; did you mean base_length?",
        ),
        ("- {bases: [1, 1]}", "- 1", "c.yaml:9: families.ramps.levels[0]: must be a section of keys, got 1"),
        ("name: small", "name: ../../esc", f"c.yaml:1: name: {FOLDER} no / or {NO_MORE}"),
        ("name: small", "name: ..", f"c.yaml:1: name: {FOLDER} no / or {NO_MORE}"),
        ("name: small", "name: 'a\\b'", f"c.yaml:1: name: {FOLDER} no / or {NO_MORE}"),
        ("name: small", 'name: "a\\e[2J"', f"c.yaml:1: name: {FOLDER} no / or {NO_MORE}"),
        ("name: small", f"name: {'n' * 5000}", f"c.yaml:1: name: {FOLDER} at most 100 bytes, has 5000"),
        ("name: small", f"name: {'é' * 51}", f"c.yaml:1: name: {FOLDER} at most 100 bytes, has 102"),
        ("name: small", f"seed: {2**64}", f"c.yaml:1: seed: {SEEDS}, got 18446744073709551616"),
        ("name: small", f"seed: {2**1600}", f"c.yaml:1: seed: {SEEDS}, got a number of 1,601 bits"),
        ("name: small", f"seed: {hex(2**20000)}", f"c.yaml:1: seed: {SEEDS}, got a number of 20,001 bits"),
        ("steps: 7", "learning_rate: .inf", "c.yaml:3: training.learning_rate: must be a finite number, got inf"),
        ("steps: 7", "learning_rate: .nan", "c.yaml:3: training.learning_rate: must be a finite number, got nan"),
        ("steps: 7", "learning_rate: 1e300", "c.yaml:3: training.learning_rate: must be <= 10, got '1e300'"),
        ("steps: 7", "temperature: .inf", "c.yaml:3: training.temperature: must be a finite number, got inf"),
        ("steps: 7", "steps: 10000000000", "c.yaml:3: training.steps: must be <= 1,000,000,000, got 10000000000"),
        ("batch_size: 16", f"batch_size: {10**12}", f"c.yaml:4: training.batch_size: {MILLION}, got {10**12}"),
        ("name: small", f"sandbox: {{memory_mb: {10**12}}}", f"c.yaml:1: sandbox.memory_mb: {MILLION}, got {10**12}"),
        ("name: small", "sandbox: {workers: 9999}", "c.yaml:1: sandbox.workers: must be <= 4,096, got 9999"),
        ("length: [4, 40]", "reuse: 5", "c.yaml:11: families.ramps.levels[1].reuse: must be <= 1, got 5"),
        (
            "length: [4, 40]",
            "initiators: {set_list: -1}",
            "c.yaml:11: families.ramps.levels[1].initiators.set_list: must be >= 0, got -1",
        ),
        ("bases: [2, 2]", "bases: [2, 1000]", "c.yaml:10: families.ramps.levels[1].bases: at most 100"),
        ("length: [4, 40]", f"length: [4, {10**12}]", "c.yaml:11: families.ramps.levels[1].length: at most 1,000,000"),
        ("length: [4, 40]", "length: [4, 4097]", f"c.yaml:11: families.ramps.levels[1].length: {REPORTED}"),
        (
            "length: [4, 40]",
            f"base_length: [4, {10**6}]\n        values: [0, {10**7}]",
            f"c.yaml:11: families.ramps.levels[1].base_length: {REPORTED}",
        ),
        ("name: small", f"data: {{max_items: {10**6}}}", "c.yaml:1: data.max_items: must be <= 4,096, got 1000000"),
        (
            "length: [4, 40]",
            "reuse: .inf",
            "c.yaml:11: families.ramps.levels[1].reuse: must be a finite number, got inf",
        ),
        ("name: small", "name: [a, b]", "c.yaml:1: name: must be text, got ['a', 'b']"),
        ("name: small", "model: tiny", "c.yaml:1: model: must be a section of keys, got 'tiny'"),
    ],
)
def test_a_mistake_is_one_line_with_line_key_and_mend(file: Path, old: str, new: str, said: str) -> None:
    assert GOOD.count(old) == 1
    assert complaint(file, GOOD.replace(old, new)) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "c.yaml:1: the file is empty; a curriculum needs at least families"),
        ("- a\n- b\n", "c.yaml:1: must be keys with values, such as `name: quickstart`"),
        ("name: x\n", "c.yaml:1: families: has none; add one, or set data.train to a file of tasks"),
        ("families: {}\n", "c.yaml:1: families: has none; add one, or set data.train to a file of tasks"),
        ("a: 1\n\tb: 2\n", "c.yaml:2: not YAML: found character '\\t' that cannot start any token; indent with spaces"),
        ("a: b: c\n", "c.yaml:1: not YAML: mapping values are not allowed here; check the indentation"),
        ("a: 1\nb: [1, 2\nc: 3\n", "c.yaml:3: not YAML: expected ',' or ']', but got ':'; close the bracket"),
        ('a: 1\nb: "x\nc: 3\n', "c.yaml:2: not YAML: found unexpected end of stream; close the quote"),
        ("a: 1\nname\n", "c.yaml:3: not YAML: could not find expected ':'; a key is followed by a colon"),
        ("a: *b\n", "c.yaml:1: not YAML: found undefined alias 'b'; define the anchor"),
        ("a: !!python/object:os.system {}\n", "c.yaml:1: not YAML: could not determine a constructor"),
        ("a: 1\nb: 2026-13-45\n", "c.yaml:2: not YAML: a value cannot be read: month must be in 1..12; quote it if"),
        (f"a: {'9' * 5000}\n", "c.yaml:1: not YAML: a value cannot be read: Exceeds the limit (4300 digits)"),
        (
            "a: 1\nname: {{ name }}\n",
            "c.yaml:2: not YAML: found unhashable key; a key is a word; quote text that begins",
        ),
        ("a: !!bool maybe\n", "c.yaml:1: not YAML: a value cannot be read: 'maybe'; quote it if it is text"),
        ("a: !!timestamp x\n", "c.yaml:1: not YAML: a value cannot be read: 'x'; quote it"),
        ("a: !!int ''\n", "c.yaml:1: not YAML: a value cannot be read: ''; quote it"),
        ("? [a, b]\n: 1\n", "c.yaml:1: not YAML: found unhashable key; a key is a word"),
        ("families:\n  yes: {}\n", "c.yaml:1: families: the key True is not text; quote it"),
        ("1: 2\n", "c.yaml:1: the key 1 is not text; quote it"),
        ("a: 1\nb: 2\na: 3\n", "c.yaml:3: a: already set on line 1; keep one"),
        ("a: {b: 1,\n b: 2}\n", "c.yaml:2: b: already set on line 1; keep one"),
        ("a: \x07\n", "c.yaml: not YAML: unacceptable character #x0007"),
        ("[" * 5000, "c.yaml:1: nested too deeply for a curriculum; take apart what is in it"),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    assert complaint(tmp_path / "c.yaml", text).startswith(said)


def test_what_a_terminal_is_not_shown_as_it_is_comes_back_from_the_dump(tmp_path: Path) -> None:
    odd = "100\xa0% \u200d\x1b[2J\u202eé"
    config = read_curriculum({"description": odd, "families": {"a\xa0b": {"levels": [{}]}}})
    text = dump_config(config)
    assert text.replace("\n", "").isprintable()
    (tmp_path / "c.yaml").write_text(text)
    assert load_config(tmp_path / "c.yaml") == config


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "no.yaml", "no such file"), (tmp_path, "cannot be read: Is a directory")):
        with pytest.raises(ConfigError, match=said):
            load_config(path)
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(ConfigError, match="not a text file in UTF-8"):
        load_config(tmp_path / "latin.yaml")


def test_a_file_of_aliases_of_aliases_is_read_at_once(tmp_path: Path) -> None:
    """Nine doublings of nine would be 2**81 items, were they ever walked one by one."""
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 512)}]\n" for i in range(1, 10))
    assert complaint(tmp_path / "c.yaml", bomb + "families: *a9\n").startswith("c.yaml:11: families: must be keys")


def test_every_mistake_is_kept_once(file: Path) -> None:
    """A wrong key in `sampler` is inherited by each level, and is still one mistake."""
    file.write_text(GOOD.replace("base_length", "base_lenght").replace("steps: 7", "steps: x"))
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert [problem.partition(": ")[0] for problem in caught.value.problems] == [f"{file}:7", f"{file}:3"]
    assert str(caught.value).endswith(f"(and 1 more: kolmo curriculum validate {file})")


def test_overrides_win_over_the_file(file: Path) -> None:
    config = load_config(
        file,
        parse_settings(
            ["training.steps=9", "families.ramps.levels[1].bases=[3, 4]", "families.ramps.target=0.4", "name=b"]
        ),
    )
    assert (config.training.steps, config.name, config.families["ramps"].target) == (9, "b", 0.4)
    assert config.families["ramps"].levels[1].bases == (3, 4)
    assert config.training.batch_size == 16


def test_an_override_from_python_may_be_a_number_of_numpy(file: Path) -> None:
    given = {"training.steps": np.int64(7), "training.learning_rate": np.float32(0.5), "report": np.bool_(False)}
    config = load_config(file, given)
    assert (config.training.steps, config.training.learning_rate, config.report) == (7, 0.5, False)
    assert "steps: 7" in dump_config(config)
    with pytest.raises(ConfigError, match=r"--set name=here: name: must be text"):
        load_config(file, {"name": Path("here")})


def test_an_override_of_an_aliased_section_changes_one_place(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("families:\n  a: &a {levels: [{bases: [1, 1]}]}\n  b: *a\n")
    config = load_config(path, {"families.a.levels.0.bases": [2, 2]})
    assert config.families["a"].levels[0].bases == (2, 2)
    assert config.families["b"].levels[0].bases == (1, 1)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("training.stepz=1", "--set training.stepz=1: training has no key stepz; did you mean steps?"),
        ("trainin.steps=1", "--set trainin.steps=1: the curriculum has no key trainin; did you mean training?"),
        ("families.ramp.target=1", "--set families.ramp.target=1: families has no entry ramp; did you mean ramps?"),
        ("training.steps.x=1", "--set training.steps.x=1: training.steps holds one value and has no key x"),
        (
            "families.ramps.levels[5].bases=[1, 1]",
            "--set families.ramps.levels[5].bases=[1, 1]: families.ramps.levels has 2 items, counted from 0; "
            "there is no item 5",
        ),
        ("training.steps=x", "--set training.steps=x: training.steps: must be a whole number, got 'x'"),
        ("training..steps=1", "--set training..steps=1: 'training..steps' is not a key"),
        (
            "training.batch_size=15",
            "c.yaml:2: training: batch_size 15 is not a multiple of group_size 8 (with --set training.batch_size=15)",
        ),
    ],
)
def test_a_wrong_override_names_itself(file: Path, setting: str, said: str) -> None:
    assert complaint(file, GOOD, parse_settings([setting])).startswith(said)


@pytest.mark.parametrize("setting", ["training.steps", "=3", "training.steps=[1", "name=2026-13-45", "report=!!bool x"])
def test_settings_that_are_not_settings(setting: str) -> None:
    with pytest.raises(UsageError, match="--set "):
        parse_settings([setting])


def test_numbers_at_their_bounds_and_gradients_that_are_not_scaled_down(file: Path) -> None:
    settings = ["seed=18446744073709551615", "training.batch_size=1000000", "training.max_grad_norm=.inf"]
    config = load_config(file, parse_settings(settings))
    assert (config.seed, config.training.batch_size) == (2**64 - 1, 10**6)
    assert config.training.max_grad_norm == float("inf")
    assert complaint(file, GOOD, parse_settings([f"seed={hex(2**20000)}"])).startswith(f"--set seed=…: seed: {SEEDS}")


def test_an_override_names_the_flag_it_came_from(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--steps -3: training\.steps: must be >= 0, got -3$"):
        load_config(file, {"training.steps": -3}, {"training.steps": "--steps -3"})


def test_parts_are_paid_where_a_judge_finds_some(file: Path) -> None:
    setting = {"reward.partial": 0.1}
    for paying in (find_curriculum("python"), file):
        assert load_config(paying, setting).reward.partial == 0.1
    in_python = GOOD.replace("  ramps:\n", "  ramps:\n    language: python\n")
    said = "reward: partial is paid for pieces of a sequence; remove it (no task of ramps is a sequence)"
    assert said in complaint(file, in_python, setting)


def test_tasks_are_chosen_in_one_way_for_their_signal(file: Path) -> None:
    for one in ("methods.screening.draws", "methods.pilot.draws", "methods.refill.most"):
        assert load_config(file, {one: 2})
    said = "pilot and refill are on, which choose tasks in ways of their own; keep only one"
    assert said in complaint(file, GOOD, {"methods.pilot.draws": 2, "methods.refill.most": 1.5})


@pytest.mark.parametrize(
    ("settings", "cap"),
    [({}, None), ({"training.updates": 2}, 2.0), ({"training.updates": 2, "training.ratio_cap": 1.5}, 1.5)],
)
def test_rollouts_of_an_older_policy_are_weighted(file: Path, settings: dict[str, float], cap: float | None) -> None:
    assert load_config(file, settings).ratio_cap == cap


def test_find_curriculum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_curriculum("quickstart") == curricula_dir() / "quickstart.yaml"
    (tmp_path / "mine.yaml").write_text(GOOD)
    assert find_curriculum("mine.yaml") == Path("mine.yaml")
    for wrong, said in (
        ("quickstrat", "did you mean quickstart?"),
        ("zzz", "packaged are .*quickstart"),
        (str(tmp_path), "a folder, not a curriculum file"),
    ):
        with pytest.raises(UsageError, match=said):
            find_curriculum(wrong)


@pytest.mark.parametrize(
    "engine, key",
    [
        ("{kind: monarch, hosts: ['tcp://127.0.0.1:1']}", "hosts"),
        ("{kind: monarch, insecure: true}", "insecure"),
        ("{kind: monarch, hosts: ['tcp://1.2.3.4:1'], insecure: true}", "hosts"),
        ("{<<: &base {kind: monarch, hosts: ['tcp://127.0.0.1:1']}}", "hosts"),
    ],
)
def test_a_file_does_not_choose_whom_the_trainer_listens_to(file: Path, engine: str, key: str) -> None:
    """What a host answers is unpickled: a file that names one would be a program."""
    file.write_text(GOOD + f"engine: {engine}\n")
    line = GOOD.count("\n") + 1
    for overrides in ({}, {"training.steps": 3}, {"engine.hosts.0": "tcp://127.0.0.1:2"} if key == "hosts" else {}):
        with pytest.raises(
            ConfigError, match=rf"c.yaml:{line}: engine.{key}: no file may say this.*give --{key} yourself"
        ):
            load_config(file, overrides)
    assert load_config(file, to_look=True).engine.kind == "monarch"  # of a run: read, and not trained with


def test_who_trains_chooses_the_hosts(file: Path) -> None:
    hosts = ["tcp://127.0.0.1:2"]
    file.write_text(GOOD + "engine: {kind: monarch, hosts: ['tcp://127.0.0.1:1'], insecure: true}\n")
    with pytest.raises(ConfigError, match=r"engine\.insecure: no file"):
        load_config(file, {"engine.hosts": hosts})
    assert load_config(file, {"engine.hosts": hosts, "engine.insecure": False}).engine.hosts == hosts
    assert load_config(file, {"engine": {"kind": "monarch", "hosts": hosts}}).engine.hosts == hosts
    assert load_config(file, {"engine": "local"}).engine.hosts == []


@pytest.mark.parametrize("backend", ["http://127.0.0.1:8080", "https://example.org/sandbox"])
def test_a_file_does_not_choose_who_judges(file: Path, backend: str) -> None:
    """A server is sent the token from the environment, and what it says is believed."""
    file.write_text(GOOD + f"sandbox: {{backend: '{backend}'}}\n")
    line = GOOD.count("\n") + 1
    with pytest.raises(
        ConfigError, match=rf"c.yaml:{line}: sandbox.backend: no file may say this.*your token.*give --sandbox yourself"
    ):
        load_config(file)
    assert load_config(file, to_look=True).sandbox.backend == backend
    assert load_config(file, {"sandbox.backend": "embedded"}).sandbox.backend == "embedded"
    assert load_config(file, {"sandbox.backend": backend}).sandbox.backend == backend
    for usual in ("auto", "docker", "embedded"):
        file.write_text(GOOD + f"sandbox: {{backend: {usual}}}\n")
        assert load_config(file).sandbox.backend == usual
    for wrong, mend in (("dokcer", "; did you mean docker?"), ("ftp://x", "$")):
        file.write_text(GOOD + f"sandbox: {{backend: '{wrong}'}}\n")
        with pytest.raises(
            ConfigError,
            match=r"sandbox\.backend: must be one of auto, docker, embedded, or http://.*" + mend.replace("?", r"\?"),
        ):
            load_config(file)


SUMS = "families: {a: {task: examples, of: numbers}}\n"
TOO_MUCH = {
    "unknown keys": (SUMS + "".join(f"k{i}: 1\n" for i in range(100_000)), "more than 50,000 keys and values for a curriculum"),
    "nesting": ("families: " + "{a: " * 20_000 + "1" + "}" * 20_000, "nested too deeply for a curriculum"),
    "levels": (
        "families:\n  a:\n    task: sum_digits\n    levels: [" + "{}," * 20_000 + "]\n",
        "families.a.levels: a family has at most 10,000, has 20,000",
    ),
    "families": (
        "families:\n" + "".join(f"  a{i}: {{}}\n" for i in range(2_000)), "families: 2,000 families; at most 1,000 are taken"
    ),
    "a long name": (f"families: {{{'x' * 300}: {{task: sum_digits}}}}", "has 300 characters; at most 200 are taken"),
    "half a character": (r'families: {"\ud800": {task: sum_digits}}', "holds half of a surrogate pair, which UTF-8 cannot write"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_bounds_come_before_anything_else(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_config(tmp_path / "c.yaml")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_first_hundred_mistakes_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(SUMS + "".join(f"k{i}: 1\n" for i in range(5_000)))
    with pytest.raises(ConfigError) as raised:
        load_config(tmp_path / "c.yaml")
    assert len(raised.value.problems) == 101
    assert raised.value.problems[-1].endswith("and 4,900 more things that are wrong")


def test_a_pipe_is_no_curriculum(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.yaml")
    with pytest.raises(UsageError, match=r"c\.yaml: not a regular file but a FIFO"):
        load_config(tmp_path / "c.yaml")


@pytest.mark.parametrize(
    "key", ["a" * 5_000, ".".join("a" * 5_000), "families.a.levels[" + "9" * 5_000 + "]", "families[²]"]
)
def test_a_key_of_any_length_is_one_line(tmp_path: Path, key: str) -> None:
    (tmp_path / "c.yaml").write_text(SUMS)
    with pytest.raises(UsageError, match="is not a key") as raised:
        load_config(tmp_path / "c.yaml", {key: 1})
    assert len(str(raised.value)) < 12_000
