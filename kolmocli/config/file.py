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
from kolmocli.errors import UsageError
from kolmocli.files import require_regular
from kolmocli.paths import find_curriculum
from kolmocli.sandbox.backends import BACKENDS

# What the YAML parser says, and what the author of the file has to do about it.
_REMEDIES = {
    "cannot start any token": "indent with spaces, not tabs, and quote text that starts with @, % or `",
    "mapping values are not allowed": "check the indentation, and quote text that holds ': '",
    "could not find expected ':'": "a key is followed by a colon and a space",
    "expected <block end>": "indent this line like the ones above it",
    "unexpected end of stream": "close the quote or the bracket that is open",
    "expected ',' or": "close the bracket, or put a comma between the items",
    "undefined alias": "define the anchor with & before it is used with *",
    "for a curriculum": "take apart what is in it, or put tasks into a file of their own (data.train)",
    "could not determine a constructor": "a curriculum holds plain values, no !tags",
}

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


class ConfigError(UsageError):
    """A curriculum file that is wrong in one or more places; `problems` has a line for each."""

    def __init__(self, problems: list[str], file: str) -> None:
        self.problems = problems
        more = f" (and {len(problems) - 1} more: kolmo curriculum validate {file})" if problems[1:] else ""
        super().__init__(problems[0] + more)


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
    root = _compose(file)
    data = _construct(root, file)
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
                f"{file}:{_line_of(root, (section, key))}: {section}.{key}: no file may say this, because {reason}; "
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
            parsed[key.strip()] = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError):
            raise UsageError(f"--set {setting}: {text!r} is not a YAML value; quote it") from None
    return parsed


def dump_config(config: Config) -> str:
    """The whole configuration as YAML, defaults included; loading it gives an equal `Config`."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100)


_MOST_NODES, _DEEPEST = 50_000, 50
"""Keys and values of a curriculum file, and how far they may be inside each other: the configuration of a run has about 2,500."""


class _TooMuch(yaml.MarkedYAMLError):
    """YAML, but more of it than a curriculum has."""


class _Bounded(yaml.SafeLoader):
    """Stops at the bounds while it reads: a file of 100,000 keys would keep the parser busy for a minute."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._nodes = self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > _MOST_NODES or self._depth > _DEEPEST:
            what = "nested too deeply" if self._depth > _DEEPEST else f"more than {_MOST_NODES:,} keys and values"
            raise _TooMuch(problem=f"{what} for a curriculum", problem_mark=self.peek_event().start_mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _compose(file: str) -> yaml.MappingNode:
    """The node tree of the file, checked for duplicate keys."""
    try:
        require_regular(file)
        root = yaml.compose(Path(file).read_text(encoding="utf-8"), Loader=_Bounded)
    except FileNotFoundError:
        raise ConfigError([f"{file}: no such file"], file) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{file}: not a text file in UTF-8"], file) from None
    except OSError as error:
        raise ConfigError([f"{file}: cannot be read: {error.strerror}"], file) from None
    except yaml.YAMLError as error:
        raise _malformed(error, file) from None
    if root is None:
        raise ConfigError([f"{file}:1: the file is empty; a curriculum needs at least families"], file)
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError([f"{file}:{_at(root)}: must be keys with values, such as `name: quickstart`"], file)
    _refuse_duplicates(root, file)
    return root


def _construct(root: yaml.MappingNode, file: str) -> dict[Any, Any]:
    loader = yaml.SafeLoader("")
    try:
        data: dict[Any, Any] = loader.construct_document(root)
    except yaml.YAMLError as error:
        raise _malformed(error, file) from None
    except (ValueError, RecursionError) as error:  # such as the date 2026-13-45
        raise ConfigError([f"{file}: a value cannot be read: {error}; quote it if it is text"], file) from None
    finally:
        loader.dispose()
    return data


def _refuse_duplicates(root: yaml.Node, file: str) -> None:
    """YAML would let the last one win, and a line of the file would silently mean nothing."""
    waiting, visited = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in visited:  # an alias: the same node again, or a cycle
            continue
        visited.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                if key.value in lines and isinstance(key, yaml.ScalarNode):
                    raise ConfigError(
                        [f"{file}:{_at(key)}: {key.value}: already set on line {lines[key.value]}; keep one"], file
                    )
                if isinstance(key, yaml.ScalarNode):
                    lines[key.value] = _at(key)
                waiting.append(value)


def _malformed(error: yaml.YAMLError, file: str) -> ConfigError:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return ConfigError([f"{file}: not YAML: {' '.join(str(error).split())}"], file)
    problem = " ".join((error.problem or error.context or "not YAML").split())
    remedy = next((m for said, m in _REMEDIES.items() if said in problem), "check this line and the one above it")
    # An open quote or bracket is noticed at the end of the file; where it was opened is of more use.
    opened = error.context_mark if error.context_mark and "end of stream" in problem else error.problem_mark
    said = problem if isinstance(error, _TooMuch) else f"not YAML: {problem}"
    return ConfigError([f"{file}:{opened.line + 1}: {said}; {remedy}"], file)


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
    where = file if root is None else f"{file}:{_line_of(root, written)}"
    return f"{where}: {problem}{blame}"


def _line_of(root: yaml.Node, location: Iterable[str | int]) -> int:
    """The line of the key or item at `location`, or of the nearest part above it that is in the file."""
    node, line = root, 1
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = _at(node)
        elif isinstance(node, yaml.MappingNode):
            found = next(((k, v) for k, v in node.value if k.value == str(part)), None)
            if found is None:
                return line
            line, node = _at(found[0]), found[1]
        else:
            return line
    return line


def _at(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _scalar(value: Any) -> str:
    try:
        text = yaml.safe_dump(value, default_flow_style=True, width=1000).split("\n")[0]
    except ValueError:  # a number that is too long to be printed
        return "…"
    return text if len(text) <= 40 else text[:39] + "…"
