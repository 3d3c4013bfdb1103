"""Archives of every format version decode for ever, and a second decoder agrees with the page."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from kolmocli.archive.folders.reader import open_folder
from kolmocli.archive.opener import decompress

from . import independent
from .make_corpus import held

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


HELD = json.loads((CORPUS / "folders" / "folders.json").read_text())


def test_the_corpus_of_folders_is_complete():
    assert {p.name for p in (CORPUS / "folders").glob("*.klm")} == set(HELD)


@pytest.mark.parametrize("name", sorted(HELD))
def test_frozen_folders_decode(name):
    archive = (CORPUS / "folders" / name).read_bytes()
    folder = open_folder(archive)
    made = dict.fromkeys(folder.entries, b"")
    for entry, piece in folder.pieces(folder.entries):
        made[entry] += piece
    assert held(made.items()) == HELD[name]
    kinds = {}
    for path, what in independent.decode_folder(archive).items():
        if isinstance(what, tuple):
            kinds[path.decode("latin-1")] = ["PROGRAM" if what[1] else "FILE", sha256(what[0]).hexdigest()]
        else:
            kinds[path.decode("latin-1")] = (
                ["FOLDER", sha256(b"").hexdigest()] if what is None else ["LINK", what.decode()]
            )
    assert kinds == HELD[name]
