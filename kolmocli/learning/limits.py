"""Sizes of the parts of a computation. No result depends on these; memory does, and `--dry-run` estimates it from them."""

from __future__ import annotations

ROWS_AT_ONCE = 256
"""Rollouts that are sampled together: more would only cost memory."""
TOKENS_PER_MICRO_BATCH = 2_048
"""Tokens of one forward and backward pass, padding included, with a prompt counted once for all its rollouts."""
KEYS_PER_MICRO_BATCH = 8_192
"""Keys that its rollouts attend to, each its prompt's and its own: the backward pass keeps them per rollout."""
