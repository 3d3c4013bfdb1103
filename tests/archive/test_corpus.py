"""Archives of every format version decode for ever, and a second decoder agrees with the page."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from kolmocli.archive.opener import decompress

from . import independent

CORPUS = Path(__file__).parent / "corpus"
KNOWN = json.loads((CORPUS / "corpus.json").read_text())


def test_the_corpus_is_complete():
    assert {p.name for p in CORPUS.glob("*.klm")} == set(KNOWN)
    assert len(KNOWN) > 20


@pytest.mark.parametrize("decode", [decompress, independent.decode], ids=["kolmo", "independent"])
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_frozen_archives_decode(name, decode):
    data = decode((CORPUS / name).read_bytes())
    assert len(data) == KNOWN[name]["size"]
    assert sha256(data).hexdigest() == KNOWN[name]["sha256"]
