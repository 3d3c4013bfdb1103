"""libyaml in place of PyYAML's own parser: the same values on the same lines, and the same refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from kolmocli.config.file import dump_config, load_config
from kolmocli.documents import Dumper, Loader
from kolmocli.paths import find_curriculum
from tests.conftest import packaged

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x85"))  # which PyYAML's own emitter writes as a space
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30)


def outline(node: yaml.Node | None) -> object:
    """Tags, texts and where they stand."""
    if node is None:
        return None
    inner: object = node.value
    if isinstance(node, yaml.MappingNode):
        inner = [(outline(key), outline(value)) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        inner = [outline(value) for value in node.value]
    return node.tag, inner, node.start_mark.line, node.start_mark.column


@pytest.mark.parametrize("name", packaged())
def test_a_curriculum_has_its_values_on_the_same_lines(name: str) -> None:
    with open(find_curriculum(name), encoding="utf-8") as file:
        text = file.read()
    assert outline(yaml.compose(text, Loader=Loader)) == outline(yaml.compose(text, Loader=yaml.SafeLoader))
    written = yaml.dump(load_config(find_curriculum(name)).model_dump(mode="json"), Dumper=Dumper)
    assert outline(yaml.compose(written, Loader=Loader)) == outline(yaml.compose(written, Loader=yaml.SafeLoader))


@given(document=NESTED)
def test_whatever_either_writes_both_read(document: object) -> None:
    for dumper in (Dumper, yaml.SafeDumper):
        text = yaml.dump(document, Dumper=dumper, allow_unicode=True, width=100)
        assert yaml.load(text, Loader=Loader) == yaml.load(text, Loader=yaml.SafeLoader) == document


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "\ta: 1", "a: *b", "a: 'b", "a: @b", "- a\nb: c", "a: \x00"])
def test_what_one_refuses_the_other_refuses(text: str) -> None:
    for loader in (Loader, yaml.SafeLoader):
        with pytest.raises(yaml.YAMLError):
            yaml.load(text, Loader=loader)


def test_what_is_nested_too_deeply_is_no_crash() -> None:
    with pytest.raises((RecursionError, yaml.YAMLError)):
        yaml.load("[" * 100_000, Loader=Loader)


WITHOUT_LIBYAML = """
import sys, yaml
yaml.__with_libyaml__ = False
from kolmocli.config.file import dump_config, load_config
from kolmocli.documents import Dumper, Loader
assert issubclass(Loader, yaml.SafeLoader) and Dumper is yaml.SafeDumper
sys.stdout.write(dump_config(load_config(sys.argv[1])))
"""


def test_a_pyyaml_without_libyaml_reads_and_writes_the_same() -> None:
    curriculum = find_curriculum("digits")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBYAML, str(curriculum)],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == dump_config(load_config(curriculum))
