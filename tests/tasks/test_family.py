"""A kind of task of one's own: one function, a section in a curriculum file, and held-out prompts."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kolmocli.config.file import dump_config, load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.registry import load_plugin
from kolmocli.tasks.base import Prompt, Split, Task
from kolmocli.tasks.family import FamilyTasks, FunctionKind, families, family, kind_of, open_families
from kolmocli.tasks.sequences.settings import Family

PLUGIN = '''\
from __future__ import annotations
import random
from typing import Literal
from kolmocli.tasks.base import Task
from kolmocli.tasks.family import family

@family("primes", levels=3)
def primes(
    level: int, rng: random.Random, *, count: int = 2, span: tuple[int, int] = (1, 9), how: Literal["up", "down"] = "up"
) -> Task:
    """Primes above a number."""
    start = rng.randrange(10**level)
    return Task(prompt=f"{count} primes above {start}", check=lambda value: len(value) == count)
'''
FILE = """\
training: {steps: 7}
families:
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PLUGIN)
    path = tmp_path / "c.yaml"
    path.write_text(FILE + "  primes: {}\n")
    return path


@pytest.fixture
def plugged(file: Path) -> Path:
    load_plugin(str(file.with_name("mine.py")))
    return file


def counting(name: str = "counting", **options: Any) -> FunctionKind:
    """Two levels: numbers below a hundred, and below ten thousand."""

    @family(name, levels=2, **options)
    def generator(level: int, rng: random.Random, *, add: int = 1) -> Task:
        number = rng.randrange(100**level)
        return Task(
            prompt=Prompt(f"{number} + {add}", "Add.", f"{number} {add}"),
            check=lambda value: value == (number + add,),
            reference=f"output = {number + add}",
        )

    return generator


def opened(kind: FunctionKind, split: Split = "train", seed: int = 0, **settings: Any) -> FamilyTasks:
    return open_families({"mine": kind.settings.model_validate({"task": kind.name, **settings})}, split, seed)


def texts(source: FamilyTasks, level: int, count: int = 200) -> set[str]:
    return {source.task(Bucket("mine", level), i).asked.text for i in range(count)}


def plain(task: Task) -> Task:
    """What of a task can be compared: a check is another function every time."""
    return replace(task, check=None)


def complaint(path: Path, overrides: dict[str, object] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load_config(path, overrides)
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


# --- its tasks


def test_the_function_is_called_with_a_level_and_fills_in_the_rest() -> None:
    source = opened(counting(), add=5)
    assert source.buckets() == [Bucket("mine", 1), Bucket("mine", 2)]
    for bucket in source.buckets():
        task = source.task(bucket, 3)
        number, add = map(int, task.asked.text.split(" + "))
        assert (task.bucket, task.index, task.language, add) == (bucket, 3, "python", 5)
        assert number < 100**bucket.level
        assert task.check is not None
        assert task.check((number + 5,))
        assert not task.check((number + 1,))
        assert source.size(bucket) is None
        assert source.taught(bucket)
    assert max(int(text.split()[0]) for text in texts(source, 2)) >= 100


def test_the_function_is_what_it_was() -> None:
    kind = counting()
    task = kind(1, random.Random(0), add=7)
    assert plain(task) == plain(kind(1, random.Random(0), add=7))
    assert (task.asked.text.split(" + ")[1], task.bucket.family) == ("7", "")


def test_a_task_is_the_same_again_and_another_with_another_seed() -> None:
    bucket, kind = Bucket("mine", 2), counting()
    one, again, other = opened(kind), opened(kind), opened(kind, seed=1)
    assert plain(one.task(bucket, 7)) == plain(again.task(bucket, 7))
    assert one.task(bucket, 7).asked != other.task(bucket, 7).asked
    assert one.task(bucket, 7).asked != one.task(bucket, 8).asked


def test_no_prompt_of_evaluation_is_asked_in_training() -> None:
    """Whatever the seeds: of a hundred prompts every one is asked, and on one side only; about a tenth in evaluation."""
    kind = counting()
    train, held_out = (
        set().union(*(texts(opened(kind, split, seed), 1, 400) for seed in (0, 1))) for split in ("train", "eval")
    )
    assert not train & held_out
    assert len(train | held_out) == 100
    assert 4 <= len(held_out) <= 18


def test_prompts_may_be_shared_where_the_family_says_so() -> None:
    kind = counting(held_out=False)
    train, held_out = (texts(opened(kind, split), 1, 1000) for split in ("train", "eval"))
    assert len(train) == len(held_out) == 100
    bucket = Bucket("mine", 2)
    assert opened(kind).task(bucket, 0).asked != opened(kind, "eval").task(bucket, 0).asked


def test_a_level_without_prompts_for_a_split_is_named_with_the_mend() -> None:
    @family("one", levels=1)
    def one(level: int, rng: random.Random) -> Task:
        return Task(prompt="always the same", check=bool)

    refused = []
    for split in ("train", "eval"):
        try:
            opened(one, split).task(Bucket("mine", 1), 0)  # type: ignore[arg-type]
        except UsageError as error:
            refused.append(str(error))
    assert len(refused) == 1
    assert re.match("families.mine: level 1: (train|eval): no prompt is left", refused[0])
    assert "held_out=False" in refused[0]


def test_a_family_without_references_is_not_taught() -> None:
    @family("bare", levels=1)
    def bare(level: int, rng: random.Random) -> Task:
        return Task(prompt=str(rng.random()), check=bool)

    source = opened(bare)
    assert not source.taught(Bucket("mine", 1))


@pytest.mark.parametrize("language", ["dsl", "python", "text"])
def test_what_is_written_for_its_tasks_is_the_familys_to_say(language: str) -> None:
    kind = counting(language=language)
    assert opened(kind).task(Bucket("mine", 1), 0).language == kind.language == language


# --- what is refused


def test_something_else_than_a_task_is_refused() -> None:
    @family("wrong", levels=1)
    def wrong(level: int, rng: random.Random) -> Task:
        return "2 + 2"  # type: ignore[return-value]

    with pytest.raises(UsageError, match=r"family wrong: made str and not a Task"):
        opened(wrong).task(Bucket("mine", 1), 0)


def test_a_task_that_nobody_can_judge_is_refused() -> None:
    @family("unchecked", levels=1)
    def unchecked(level: int, rng: random.Random) -> Task:
        return Task(prompt=str(rng.random()))

    with pytest.raises(UsageError, match=r"family unchecked: .*needs `check`"):
        opened(unchecked).task(Bucket("mine", 1), 0)


def test_a_family_has_levels() -> None:
    with pytest.raises(UsageError, match="family empty: levels is 0; a family has one or more"):
        family("empty", levels=0)


@pytest.mark.parametrize("name", ["sum_digits", "programs"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"the family {name} comes with kolmo; choose another name"):
        counting(name)


def test_a_name_of_another_plugin_is_refused_and_ones_own_replaces(plugged: Path) -> None:
    with pytest.raises(UsageError, match=r"the family primes is registered by .*mine\.py; choose another name"):
        counting("primes")
    before = families.get("primes")
    load_plugin(str(plugged.with_name("mine.py")))
    assert families.get("primes") is not before


def test_options_need_defaults_and_a_star() -> None:
    def positional(level: int, rng: random.Random, count: int = 1) -> Task:
        raise NotImplementedError

    def required(level: int, rng: random.Random, *, count: int) -> Task:
        raise NotImplementedError

    for generator in (positional, required):
        with pytest.raises(UsageError, match=r"family mine: the parameter count needs a default, and a \* before it"):
            family("mine", levels=1)(generator)
    assert "mine" not in families.names()


@pytest.mark.parametrize("name", ["task", "target", "floor", "bounds", "levels"])
def test_options_may_not_have_the_names_of_other_keys(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def generator(level, rng, *, {name}=None): ...", namespace)
    with pytest.raises(UsageError, match=f"family mine: .* key {name}; call the parameter otherwise"):
        family("mine", levels=1)(namespace["generator"])


def test_a_function_without_level_and_rng_is_refused() -> None:
    def generator(level: int, *, rng: object = None) -> Task:
        raise NotImplementedError

    with pytest.raises(UsageError, match=r"family mine: the function takes \(level, rng\)"):
        family("mine", levels=1)(generator)


# --- its section in a file


def test_an_empty_section_is_enough(plugged: Path) -> None:
    config = load_config(plugged)
    section = config.families["primes"]
    assert section.model_dump() == {
        "task": "primes", "target": None, "floor": None, "bounds": None, "count": 2, "span": (1, 9), "how": "up",
    }  # fmt: skip
    assert (section.level_count, config.languages, config.runs_programs) == (3, {"python"}, True)
    assert config.alphabet == "characters"
    plugged.write_text(FILE + "  primes:\n")
    assert load_config(plugged) == config


def test_its_parameters_are_keys_and_reach_the_function(plugged: Path) -> None:
    plugged.write_text(FILE + "  easy: {task: primes, count: 1}\n  primes: {count: 3}\n")
    config = load_config(plugged, {"families.easy.count": 7})
    source = open_families(config.families, "train", 0)
    assert [str(bucket) for bucket in source.buckets()] == [f"{f}/{n}" for f in ("easy", "primes") for n in (1, 2, 3)]
    assert source.task(Bucket("easy", 1), 0).asked.text.startswith("7 primes above ")
    assert source.task(Bucket("primes", 1), 0).asked.text.startswith("3 primes above ")


def test_it_has_the_keys_of_every_family(plugged: Path) -> None:
    plugged.write_text(FILE + "  primes: {target: 0.4, floor: 0.2, bounds: [2, 3]}\n  ramps: {levels: [{}]}\n")
    section = load_config(plugged).families["primes"]
    assert (section.target, section.floor, section.bounds) == (0.4, 0.2, (2, 3))


def test_what_is_dumped_loads_again(plugged: Path) -> None:
    plugged.write_text(FILE + "  ramps: {levels: [{}]}\n  primes: {count: 3}\n  easy: {task: primes}\n")
    config = load_config(plugged)
    dumped = dump_config(config)
    assert yaml.safe_load(dumped)["families"]["primes"]["task"] == "primes"
    plugged.write_text(dumped)
    assert load_config(plugged) == config
    assert list(load_config(plugged).families) == ["ramps", "primes", "easy"]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("  primes: {}", "c.yaml:3: families.primes.levels: is missing; "),
        (
            "  easy: {task: primes}",
            "c.yaml:3: families.easy.task: no such task: primes; "
            "there are sum_digits, reverse_digits, examples, and --plugin names a module with others",
        ),
        ("  primes:", "c.yaml:3: families.primes: "),
    ],
)
def test_a_file_alone_imports_nothing(file: Path, section: str, said: str) -> None:
    file.write_text(FILE + section + "\n")
    assert complaint(file).startswith(said)


def test_a_kind_that_is_missing_is_asked_for(file: Path) -> None:
    assert "--plugin" in complaint(file)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("  primes: {cuont: 1}", "c.yaml:3: families.primes.cuont: unknown key; did you mean count?"),
        ("  easy: {task: primes,\n    levels: 2}", "c.yaml:4: families.easy.levels: unknown key; "),
        ("  primes: {count: many}", "c.yaml:3: families.primes.count: must be a whole number, got 'many'"),
        (
            "  primes:\n    how: sideways",
            "c.yaml:4: families.primes.how: must be one of up, down; got 'sideways'",
        ),
        ("  primes:\n    target: 2", "c.yaml:4: families.primes.target: must be <= 1, got 2"),
        ("  primes: {floor: -1}", "c.yaml:3: families.primes.floor: must be >= 0, got -1"),
        ("  primes: {span: [1, x]}", "c.yaml:3: families.primes.span[1]: must be a whole number, got 'x'"),
        (
            "  primes: {bounds: [2, 4]}",
            "c.yaml:3: families.primes.bounds: 2 to 4 is not a part of the 3 levels, easy to hard",
        ),
        ("  primes: 3", "c.yaml:3: families.primes: must be a section of keys, got 3"),
        ("  primes: []", "c.yaml:3: families.primes: must be a section of keys, got []"),
        (
            "  easy: {task: prime}",
            "c.yaml:3: families.easy.task: no such task: prime; did you mean primes?",
        ),
        (
            "  ramps: {levels: [{lenght: [1, 2]}]}\n  primes: {cuont: 1}",
            "c.yaml:3: families.ramps.levels[0].lenght: unknown key; did you mean length?"
            " (and 1 more: kolmo curriculum validate c.yaml)",
        ),
    ],
)
def test_a_mistake_in_it_is_one_line_with_line_key_and_mend(plugged: Path, section: str, said: str) -> None:
    plugged.write_text(FILE + section + "\n")
    found = complaint(plugged).replace(f"{plugged.parent}/", "")
    assert found.startswith(said) if said.endswith(" ") else found == said


def test_a_mistake_of_a_flag_names_the_flag(plugged: Path) -> None:
    assert complaint(plugged, {"families.primes.cuont": 1}) == (
        "--set families.primes.cuont=1: families.primes has no key cuont; did you mean count?"
    )
    assert complaint(plugged, {"families.primes.floor": 3}) == (
        "--set families.primes.floor=3: families.primes.floor: must be <= 1, got 3"
    )


def test_a_family_of_sequences_keeps_its_kind_whatever_it_is_called(plugged: Path) -> None:
    """A file that was right before a plugin came along is right with it, and means the same."""
    plugged.write_text(FILE + "  primes: {levels: [{}]}\n  sum_digits: {levels: [{}]}\n")
    config = load_config(plugged)
    for name, section in config.families.items():
        assert isinstance(section, Family)
        assert kind_of(name, section) is families.get("programs")
    assert config.languages == {"dsl"}
    plugged.write_text(dump_config(config))
    assert load_config(plugged) == config


def test_keys_that_no_family_could_use_are_refused(plugged: Path) -> None:
    plugged.write_text(FILE + "  primes: {}\nhints: {most: 0.5}\n")
    assert complaint(plugged).endswith(
        "hints: most gives the beginning of a program; leave it out (no task of primes is a sequence)"
    )
    plugged.write_text(FILE + "  primes: {}\n  ramps: {levels: [{}]}\nhints: {most: 0.5}\n")
    assert load_config(plugged).hints.most == 0.5
