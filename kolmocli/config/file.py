"""Reading a curriculum file: YAML in, a `Config` out, or one line that says where the file is wrong.

The file is composed before it is constructed, because the node tree knows on which line each key stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from kolmocli.checkpoints import silent
from kolmocli.config import Config
from kolmocli.config.former import GONE, former, modern, remarks, today
from kolmocli.config.overrides import apply_override
from kolmocli.config.problems import Problem, problems_of, unknown_methods
from kolmocli.config.tree import ConfigError, compose, construct, line_of
from kolmocli.documents import Dumper, Loader
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.sandbox.backends import BACKENDS

BY_HAND = {
    ("engine", "hosts"): ("--hosts", "what a host answers runs on your machine"),
    ("engine", "insecure"): ("--insecure", "what a host answers runs on your machine"),
    ("sandbox", "backend"): (
        "--sandbox",
        "that server is sent your programs and your token, and decides what is right",
    ),
}
"""Keys that only the person who trains may set, with the flag, and why. A host answers in pickled Python, which runs in the
trainer, so a file that names one would be a program. A server of sandboxes gets the token from the environment, and its
verdicts are believed."""


def load_config(
    path: Path | str,
    overrides: Mapping[str, Any] | None = None,
    origins: Mapping[str, str] | None = None,
    *,
    to_look: bool = False,
    note: Callable[[str], None] = silent,
) -> Config:
    """The configuration in the file `path`, with `overrides` (dotted key to value) laid over it.

    `origins` names who asked for an override, for the error message: `{"training.steps": "--steps"}`.
    A key without a line came from `--set`. `to_look` is for the configuration of a run that is read and not trained with:
    it may name the hosts that the run had, and methods that no plugin brings. `note` is told a line for each key of an earlier version.

    Raises:
        ConfigError: the file or an override is wrong; one line each, naming file, line, key and the remedy.
    """
    file = str(path)
    root = compose(file)
    data = construct(root, file)
    config = _configured(data, root, file, overrides or {}, origins or {}, note, to_look)
    if not to_look:
        _refuse_hosts(data, root, file, overrides or {})
    return config


def _refuse_hosts(data: Any, root: yaml.MappingNode, file: str, overrides: Mapping[str, Any]) -> None:
    """Raise ConfigError when the file says what only the command line may, and the command line does not."""
    said = {tuple(key.split(".")) for key in overrides}
    for (section, key), (flag, reason) in BY_HAND.items():
        there = data.get(section)
        value = there.get(key) if isinstance(there, dict) else None
        if not value or value in BACKENDS or said & {(section,), (section, key)}:
            continue
        raise ConfigError(
            [
                f"{file}:{line_of(root, (section, key))}: {section}.{key}: no file may say this, because {reason}; "
                f"if you trust it, give {flag} yourself"
            ],
            file,
        )


def read_curriculum(
    source: Path | str | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = silent,
    *,
    to_look: bool = False,
) -> Config:
    """The configuration in a file, in the packaged curriculum of that name, or in its content as a mapping.

    Raises:
        ConfigError: as `load_config`.
    """
    if isinstance(source, Mapping):
        return _configured(dict(source), None, "curriculum", overrides or {}, {}, note, to_look)
    return load_config(find_curriculum(str(source)), overrides, to_look=to_look, note=note)


def _configured(
    data: dict[Any, Any],
    root: yaml.MappingNode | None,
    file: str,
    overrides: Mapping[str, Any],
    origins: Mapping[str, str],
    note: Callable[[str], None],
    to_look: bool = False,
) -> Config:
    """The configuration of the file with the overrides; `root` has its line numbers, None where it is in no file."""
    for said in remarks(data):
        note(f"{file}: {said}")
    written, data = data, modern(data)
    asked: dict[tuple[str | int, ...], str] = {}
    for key, value in overrides.items():
        label = origins.get(key, f"--set {key}={_scalar(value)}")
        if (gone := GONE.get(tuple(key.split(".")))) is not None:
            raise UsageError(f"{label}: {key} {gone}; remove it")
        if (now := today(key)) != key:
            note(f"{label}: {key} is called {now} now")
            key = now
        data, location = apply_override(data, key, value, label)
        asked[location] = label
    try:
        config = Config.model_validate(data)
        problems = [] if to_look else unknown_methods(config)
    except ValidationError as error:
        problems = problems_of(error, data)
    if problems:
        raise ConfigError(
            list(dict.fromkeys(_line(p, former(p.location, written), root, file, asked) for p in problems)), file
        )
    return config


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """`["training.steps=20"]` to `{"training.steps": 20}`; values are YAML.

    Raises:
        UsageError: no `=`, or a value that is not YAML.
    """
    parsed: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {setting}: write --set key.path=value, such as --set training.steps=20")
        try:
            parsed[key.strip()] = yaml.load(text, Loader=Loader)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise UsageError(f"--set {setting}: {text!r} is not a YAML value; quote it") from None
    return parsed


def dump_config(config: Config) -> str:
    """The whole configuration as YAML, defaults included; loading it gives an equal `Config`."""

    def dumped(unicode: bool) -> str:
        return yaml.dump(
            config.model_dump(mode="json"), Dumper=Dumper, sort_keys=False, allow_unicode=unicode, width=100
        )

    text = dumped(True)
    # What a terminal is not shown as it is, such as a no-break space, is an escape that YAML reads.
    return text if all(line.isprintable() for line in text.split("\n")) else dumped(False)


def _line(
    problem: Problem,
    written: tuple[str | int, ...],
    root: yaml.MappingNode | None,
    file: str,
    asked: Mapping[tuple[str | int, ...], str],
) -> str:
    """`file:line: key: message`, or `flag: key: message` when a flag put the value there. `written` is where the file
    has it."""
    location = problem.location
    for length in range(len(location), 0, -1):
        if location[:length] in asked:
            return f"{asked[location[:length]]}: {problem}"
    inside = [label for where, label in asked.items() if where[: len(location)] == location]
    blame = f" (with {', '.join(inside)})" if inside else ""
    where = file if root is None else f"{file}:{line_of(root, written)}"
    return f"{where}: {problem}{blame}"


def _scalar(value: Any) -> str:
    try:
        text = yaml.safe_dump(value, default_flow_style=True, width=1000).split("\n")[0]
    except ValueError:  # a number that is too long to be printed
        return "…"
    except yaml.representer.RepresenterError:  # of Python alone: a number of numpy, a path
        text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"
