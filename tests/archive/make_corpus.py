"""Writes the frozen corpus of one format version. Run once per version; an archive that exists is never replaced.

python -m tests.archive.make_corpus
"""

import json
from hashlib import sha256
from pathlib import Path

from kolmocli.archive.codecs.codecs import CODECS, SPLIT
from kolmocli.archive.folders.packer import pack_folder
from kolmocli.archive.format.container import FORMAT_VERSION, Section, digest, write_member
from kolmocli.archive.format.folder import FOLDER_VERSION, Entry, Kind
from kolmocli.archive.format.stored import stored
from kolmocli.archive.format.views import BY_NAME
from kolmocli.archive.options import Options
from kolmocli.archive.packer import _pack, compress, compress_with_reports
from kolmocli.archive.search.attempts import Attempt
from kolmocli.archive.search.proposals import Piece
from kolmocli.archive.time_budget import TimeBudget
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import canonical
from kolmocli.language.sampler import sample

from . import samples

CORPUS = Path(__file__).parent / "corpus"
FOLDERS = CORPUS / "folders"


def archives():
    for name, data in samples.SMALL.items():
        yield name.replace(" ", "-"), data, compress(data)
    data = samples.sampled(6000, seed=31)
    yield "sampled-6000", data, compress(data)
    text = samples.text(5000)
    for codec in (c for c in CODECS.values() if c.number != SPLIT):
        section = Section(codec.number, codec.encode(text, 9))
        yield codec.name, text, write_member(len(text), (section,), digest(len(text), bytes([codec.number]), text))
    for view in BY_NAME:
        data = samples.lines(40, start=-50) if view == "lines" else samples.counter(40, start=200, step=3)
        yield f"view-{view}", data, compress_with_reports(data, Options(view=view))[0]
    for name, data in samples.RULED.items():
        yield name.replace(" ", "-"), data, compress(data)
    parts = [samples.SMALL[n] for n in ("ramp", "empty", "interleaved")]
    yield "members", b"".join(parts), b"".join(compress(p) for p in parts)
    yield "programs", *every_function()


def folders():
    """Archives of folders, and what they hold."""
    texts = [(Entry(b"%d.txt" % i, size=300), samples.text(300, seed=i)) for i in range(4)]
    counters = [(Entry(b"c/%d" % i, Kind.PROGRAM, 240), samples.counter(60, start=i)) for i in range(2)]
    odd = [(Entry(b"\xff\n", size=1), b"x"), (Entry(b"empty"), b""), (Entry(b"d/e", Kind.FOLDER), b"")]
    yield "all-kinds", [*texts, *counters, *odd, (Entry(b"d/link", Kind.LINK, target=b"../0.txt"), b"")]
    yield "empty", []


def held(found):
    """The same in words of JSON: for each path, in Latin-1, its kind and the digest of its contents, or its target."""
    return {
        entry.path.decode("latin-1"): [entry.kind.name, entry.target.decode() or sha256(data).hexdigest()]
        for entry, data in found
    }


def every_function():
    """Whole sampled programs with their literals inside, until every function has occurred."""
    import random

    rng = random.Random(77)
    pieces, data, seen = [], b"", set()
    while len(seen) < 21 or len(pieces) < 60:
        program = canonical(sample(rng).program)
        names = {call.function for call in program.statements}
        if len(program) > 12 or (names <= seen and len(pieces) >= 60):
            continue
        seen |= names
        result = evaluate(program)
        pieces.append(Piece(stored(program), (), len(result)))
        data += bytes(result)
    return data, _pack(Attempt(BY_NAME["u8"], list(data), pieces, b""), data, 6, TimeBudget(None)).member


def main():
    FOLDERS.mkdir(parents=True, exist_ok=True)
    index = CORPUS / "corpus.json"
    known = json.loads(index.read_text()) if index.exists() else {}
    for name, data, archive in archives():
        file = CORPUS / f"v{FORMAT_VERSION}-{name}.klm"
        if not file.exists():
            file.write_bytes(archive)
            known[file.name] = {"size": len(data), "sha256": sha256(data).hexdigest()}
    index.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    index = FOLDERS / "folders.json"
    known = json.loads(index.read_text()) if index.exists() else {}
    for name, found in folders():
        file = FOLDERS / f"f{FOLDER_VERSION & 15}-{name}.klm"
        if not file.exists():
            file.write_bytes(pack_folder(found, Options())[0])
            known[file.name] = held(found)
    index.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
