"""The frozen corpus under other versions of Python, with both decoders: what needs no third package must come back."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.archive.format.container import read_member

CORPUS = Path(__file__).parent / "corpus"
KNOWN = json.loads((CORPUS / "corpus.json").read_text())
VERSIONS = (11, 12, 13, 14)
PACKAGES = ("zstandard", "brotli", "pcodec", "numpy")
PACKAGED = (4, 5, 6, 7)
"""Tags of the codecs that need one of them, which another Python may lack."""
SCRIPT = """
import importlib, json, sys
from hashlib import sha256
from pathlib import Path
decode = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
digests = {}
for path in sorted(Path(sys.argv[3]).glob("*.klm")):
    try:
        digests[path.name] = sha256(decode(path.read_bytes())).hexdigest()
    except Exception as error:
        digests[path.name] = repr(error)
print(json.dumps(digests))
"""


def interpreter(minor):
    """A Python of this version other than ours that starts: on the path, or as pyenv and uv keep them; else None."""
    if sys.version_info[:2] == (3, minor):
        return None
    kept = [*Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")]
    kept += Path.home().glob(f".local/share/uv/python/cpython-3.{minor}.*/bin/python3")
    for found in [shutil.which(f"python3.{minor}"), *map(str, kept)]:
        if found and subprocess.run([found, "-c", "import bz2, lzma, zlib"], capture_output=True).returncode == 0:
            return found
    return None


@pytest.mark.parametrize(
    ("module", "function"),
    [("kolmocli.archive.opener", "decompress"), ("tests.archive.independent", "decode")],
    ids=["kolmo", "independent"],
)
@pytest.mark.parametrize("minor", VERSIONS)
def test_the_corpus_decodes(minor, module, function):
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no other Python 3.{minor} on this machine")
    root = Path(__file__).parents[2]
    command = [python, "-c", SCRIPT, module, function, str(CORPUS)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wrong = {name: found[name] for name in KNOWN if found[name] != KNOWN[name]["sha256"]}
    packaged = {name for name in wrong if any(package in wrong[name] for package in PACKAGES)}
    assert set(wrong) == packaged, wrong
    assert all(needs_a_package(CORPUS / name) for name in packaged)
    assert len(KNOWN) - len(wrong) > 50


def needs_a_package(path):
    data, position, tags = path.read_bytes(), 0, []
    while position < len(data):
        member = read_member(data, position)
        tags += [section.tag for section in member.sections]
        position += member.length
    return any(tag in PACKAGED for tag in tags)
