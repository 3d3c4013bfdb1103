"""Seeds: derived from the run's own and a purpose, never drawn, so a resumed run needs no generator's state.

And keys of contents, by which tasks are told apart and held out.
"""

from __future__ import annotations

import hashlib


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A seed of 48 bits for one purpose and step: a hash of all of them."""
    text = "/".join(map(str, (seed, *purpose)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")


def content_key(text: str) -> int:
    """64 bits of a hash, the same on every machine: among a million texts the chance of one wrong match is below 1 in 10
    million. Characters that UTF-8 has no bytes for count as question marks."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
