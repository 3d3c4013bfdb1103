"""Policies that are built from a configuration and trained from scratch."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Alphabet = Literal["programs", "characters"]
"""Alphabet of a preset: the words of the language, or the characters of questions and answers."""
VOCABULARIES: dict[Alphabet, int] = {"programs": 326, "characters": 102}
"""Tokens of the presets' tokenizers; a test holds them to `tokenizer_of`."""
PROMPT_MARKS: dict[Alphabet, tuple[str, str]] = {
    "programs": ("<sequence>", "<program>"),
    "characters": ("<question>", "<answer>"),
}
"""Tokens before the prompt of a preset, and between it and the answer; no other tokenizer has them among its `FIRST`."""
FIRST = 5
MAX_POSITIONS = 1024


KERNEL = 3
"""Tokens that a short convolution reaches: the present one and two before."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Sizes of a model with tied embeddings and gated MLPs.

    With `convolutions` it has Lfm2's architecture: short convolutions and attention take turns, beginning with a convolution
    and ending with attention. Small models spend most of their time on learning to find what stands where, to copy it and
    to compare it; short convolutions give them that. Without, every layer attends, as Llama's do.
    """

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    convolutions: bool = False
    reads_segments: bool = False
    """Whether sequences are shown to it as segments (`segmenting.py`)."""

    @property
    def layer_types(self) -> list[str]:
        """The type of each layer, in transformers' words."""
        convolves = [self.convolutions and i % 2 == 0 and i < self.layers - 1 for i in range(self.layers)]
        return ["conv" if each else "full_attention" for each in convolves]

    def shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The weights of all layers and the last norm, by the part of their names that tells what they are."""
        h, f, head = self.hidden, self.feed_forward, self.hidden // self.heads
        mlp: list[tuple[str, tuple[int, ...]]] = [
            ("gate", (f, h)),
            ("up", (f, h)),
            ("down", (h, f)),
            ("norm", (h,)),
            ("norm", (h,)),
        ]
        attention: list[tuple[str, tuple[int, ...]]] = [(name, (h, h)) for name in ("q", "k", "v", "o")]
        if self.convolutions:
            attention += [("norm", (head,))] * 2
        convolution: list[tuple[str, tuple[int, ...]]] = [("in", (3 * h, h)), ("out", (h, h)), ("conv", (h, 1, KERNEL))]
        found: list[tuple[str, tuple[int, ...]]] = [("norm", (h,))]
        for kind in self.layer_types:
            found += [*(convolution if kind == "conv" else attention), *mlp]
        return found

    def count(self, alphabet: Alphabet = "programs") -> int:
        """Parameters: embeddings and `shapes`."""
        return VOCABULARIES[alphabet] * self.hidden + sum(math.prod(shape) for _, shape in self.shapes())


_SIZES = {
    "tiny": Preset(hidden=128, layers=3, heads=8, feed_forward=384),
    "small": Preset(hidden=192, layers=4, heads=6, feed_forward=576),
    "medium": Preset(hidden=512, layers=8, heads=8, feed_forward=1536),
    "large": Preset(hidden=768, layers=16, heads=12, feed_forward=1920),
}
PRESETS = {name: replace(preset, convolutions=True) for name, preset in _SIZES.items()}
PRESETS |= {f"{name}-segments": replace(preset, reads_segments=True) for name, preset in PRESETS.items()}
PRESETS |= {f"{name}-llama": preset for name, preset in _SIZES.items()}
"""Those with short convolutions, the same that read segments, and the same sizes in Llama's architecture for comparison."""


def alphabet_of(words: Container[str]) -> Alphabet | None:
    """The alphabet of a preset's own tokenizer, by its words; None for any other."""
    return next((alphabet for alphabet, (before, _) in PROMPT_MARKS.items() if before in words), None)


def is_built_here(words: int) -> bool:
    """Whether a model with this many words is a preset, by its tokenizer's size: no model from elsewhere has so few."""
    return words in VOCABULARIES.values()


def is_preset(name: str) -> bool:
    """A folder of that name wins."""
    return name in PRESETS and not Path(name).is_dir()


def listed() -> str:
    """The presets with their sizes, for `--help`: `tiny 0.7 M, small 2 M, ...` parameters."""
    return ", ".join(f"{name} {_millions(preset.count())}" for name, preset in PRESETS.items() if name in _SIZES)


def _millions(count: int) -> str:
    return f"{count / 1e6:.2g} M" if count < 1e8 else f"{count / 1e6:.0f} M"
