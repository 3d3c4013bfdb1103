"""YAML as PyYAML reads and writes it, by libyaml where it was built in: the configuration of a run has 2,500 values, for
which PyYAML's own parser needs five times as long.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError, SafeConstructor


class _Values(SafeConstructor):
    """Names the line of a value that is none, such as the date 2026-13-45 or `!!bool maybe`, where PyYAML fails in many ways."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (
            ValueError,
            LookupError,
            AttributeError,
        ) as error:  # of a long integer Python says more, for programmers
            said = str(error).partition(";")[0] if isinstance(error, ValueError) else repr(str(node.value)[:40])
            raise ConstructorError(problem=f"a value cannot be read: {said}", problem_mark=node.start_mark) from None


if yaml.__with_libyaml__:

    class Loader(_Values, Composer, yaml.CSafeLoader):
        """The nodes and values of `yaml.SafeLoader`, its limit of recursion included: only the parser is libyaml's."""

        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)

    Dumper = yaml.CSafeDumper
else:

    class Loader(_Values, yaml.SafeLoader):  # type: ignore[no-redef]
        """The nodes and values of `yaml.SafeLoader`."""

    Dumper = yaml.SafeDumper  # type: ignore[misc, assignment]
