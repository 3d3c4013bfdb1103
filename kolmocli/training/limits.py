"""How much is computed at once. No result depends on these; memory does, and `--dry-run` estimates it from them."""

from __future__ import annotations

ROWS_AT_ONCE = 256
"""Rollouts that are sampled together: more would only cost memory."""
TOKENS_PER_MICRO_BATCH = 2_048
"""Padded tokens of one forward and backward pass. Rollouts are sorted by length first, so small parts waste
little on padding."""
