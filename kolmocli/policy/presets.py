"""Policies that are built from a configuration and trained from scratch."""

from __future__ import annotations

from dataclasses import dataclass

VOCABULARY = 326
"""Tokens of the presets' tokenizer; a test holds it to `build_tokenizer`."""
MAX_POSITIONS = 1024


@dataclass(frozen=True, slots=True)
class Preset:
    """Sizes of a Llama-shaped model with tied embeddings."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int

    def count(self) -> int:
        """Parameters: embeddings, and per layer four attention matrices, three of the gated MLP, two norms."""
        layer = 4 * self.hidden**2 + 3 * self.hidden * self.feed_forward + 2 * self.hidden
        return VOCABULARY * self.hidden + self.layers * layer + self.hidden


PRESETS: dict[str, Preset] = {
    "tiny": Preset(hidden=128, layers=3, heads=8, feed_forward=384),
}
