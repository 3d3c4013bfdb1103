"""Policies that are built from a configuration and trained from scratch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Alphabet = Literal["programs", "characters"]
"""What a preset reads and writes: the words of the language, or the characters of questions and answers."""
VOCABULARIES: dict[Alphabet, int] = {"programs": 326, "characters": 102}
"""Tokens of the presets' tokenizers; a test holds them to `tokenizer_of`."""
MAX_POSITIONS = 1024


@dataclass(frozen=True, slots=True)
class Preset:
    """Sizes of a Llama-shaped model with tied embeddings."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int

    def count(self, alphabet: Alphabet = "programs") -> int:
        """Parameters: embeddings, and per layer four attention matrices, three of the gated MLP, two norms."""
        layer = 4 * self.hidden**2 + 3 * self.hidden * self.feed_forward + 2 * self.hidden
        return VOCABULARIES[alphabet] * self.hidden + self.layers * layer + self.hidden


PRESETS: dict[str, Preset] = {
    "tiny": Preset(hidden=128, layers=3, heads=8, feed_forward=384),
    "small": Preset(hidden=192, layers=4, heads=6, feed_forward=576),
    "medium": Preset(hidden=512, layers=8, heads=8, feed_forward=1536),
    "large": Preset(hidden=768, layers=16, heads=12, feed_forward=1920),
}


def is_preset(name: str) -> bool:
    """A folder of that name wins."""
    return name in PRESETS and not Path(name).is_dir()


def listed() -> str:
    """The presets with their sizes, for `--help`: `tiny 0.7 M, small 2 M, ...` parameters."""
    return ", ".join(f"{name} {_millions(preset.count())}" for name, preset in PRESETS.items())


def _millions(count: int) -> str:
    return f"{count / 1e6:.2g} M" if count < 1e8 else f"{count / 1e6:.0f} M"
