"""Seeds: derived from the run's own and a purpose, never drawn, so a resumed run needs no generator's state."""

from __future__ import annotations

import hashlib


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A seed of 48 bits for one purpose and step: a hash of all of them."""
    text = "/".join(map(str, (seed, *purpose)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")
