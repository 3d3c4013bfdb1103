"""YAML as PyYAML reads and writes it, by libyaml where it was built in: the configuration of a run has 2,500 values, for
which PyYAML's own parser needs five times as long.
"""

from __future__ import annotations

import yaml
from yaml.composer import Composer

if yaml.__with_libyaml__:

    class Loader(Composer, yaml.CSafeLoader):
        """The nodes and values of `yaml.SafeLoader`, its limit of recursion included: only the parser is libyaml's."""

        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)

    Dumper = yaml.CSafeDumper
else:
    Loader, Dumper = yaml.SafeLoader, yaml.SafeDumper  # type: ignore[misc, assignment]
