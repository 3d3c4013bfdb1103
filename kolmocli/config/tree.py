"""The YAML of a curriculum file as a tree of nodes, which know the lines that they stand on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer

from kolmocli.documents import Loader
from kolmocli.errors import UsageError
from kolmocli.files import require_regular

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
    "found unhashable key": "a key is a word; quote text that begins with { or [",
    "a value cannot be read": "quote it if it is text",
}

_MOST_NODES, _DEEPEST = 50_000, 50
"""Keys and values of a curriculum file, and how far they may be inside each other: the configuration of a run has about 2,500."""


class ConfigError(UsageError):
    """A curriculum file that is wrong in one or more places; `problems` has a line for each."""

    def __init__(self, problems: list[str], file: str) -> None:
        self.problems = problems
        more = f" (and {len(problems) - 1} more: kolmo curriculum validate {file})" if problems[1:] else ""
        super().__init__(problems[0] + more)


class _TooMuch(yaml.MarkedYAMLError):
    """YAML, but more of it than a curriculum has."""


class _Bounds(Composer):
    """Stops at the bounds while it reads: a file of 100,000 keys would keep the parser busy for a minute."""

    _nodes = _depth = 0

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > _MOST_NODES or self._depth > _DEEPEST:
            what = "nested too deeply" if self._depth > _DEEPEST else f"more than {_MOST_NODES:,} keys and values"
            mark = self.peek_event().start_mark  # type: ignore[attr-defined]  # a composer is mixed with a parser
            raise _TooMuch(problem=f"{what} for a curriculum", problem_mark=mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _Bounded(_Bounds, Loader):
    """The parser for what is right, as nearly every file is."""


class _Explained(_Bounds, yaml.SafeLoader):
    """The slower parser, for what `_Bounded` refuses: its words are the same whether libyaml was built in or not."""


def compose(file: str) -> yaml.MappingNode:
    """The node tree of the file, checked for duplicate keys.

    Raises:
        ConfigError: it cannot be read, is not YAML of keys and values, or has a key twice.
    """
    try:
        require_regular(file)
        root = _read(Path(file).read_text(encoding="utf-8"))
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


def _read(text: str) -> yaml.Node | None:
    """The tree of the text, None for an empty one. Raises YAMLError, in PyYAML's own words whichever parser there is."""
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=_Bounded)
    except _TooMuch:
        raise
    except yaml.YAMLError:
        root = yaml.compose(text, Loader=_Explained)
    return root


def construct(root: yaml.MappingNode, file: str) -> dict[Any, Any]:
    """The plain values of the tree. Raises ConfigError for one that is none."""
    loader = Loader("")
    try:
        data: dict[Any, Any] = loader.construct_document(root)
    except yaml.YAMLError as error:
        raise _malformed(error, file) from None
    except RecursionError:
        raise ConfigError([f"{file}: nested too deeply for a curriculum; take apart what is in it"], file) from None
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
                waiting.append(value)
                if not isinstance(key, yaml.ScalarNode):  # it has no value to compare, and is refused later
                    continue
                if key.value in lines:
                    raise ConfigError(
                        [f"{file}:{_at(key)}: {key.value}: already set on line {lines[key.value]}; keep one"], file
                    )
                lines[key.value] = _at(key)


def _malformed(error: yaml.YAMLError, file: str) -> ConfigError:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return ConfigError([f"{file}: not YAML: {' '.join(str(error).split())}"], file)
    problem = " ".join((error.problem or error.context or "not YAML").split())
    remedy = next((m for said, m in _REMEDIES.items() if said in problem), "check this line and the one above it")
    # An open quote or bracket is noticed at the end of the file; where it was opened is of more use.
    opened = error.context_mark if error.context_mark and "end of stream" in problem else error.problem_mark
    said = problem if isinstance(error, _TooMuch) else f"not YAML: {problem}"
    return ConfigError([f"{file}:{opened.line + 1}: {said}; {remedy}"], file)


def line_of(root: yaml.Node, location: Iterable[str | int]) -> int:
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
