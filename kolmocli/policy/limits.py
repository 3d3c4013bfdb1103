"""How much is computed at once. No result depends on it beyond the last digits; memory does."""

from __future__ import annotations

LOGITS_AT_ONCE = 1 << 22
"""Of one chunk of the output head: 16 MiB in fp32."""
LOGIT_COPIES = 3
"""Tensors of that size in the backward pass: logits, probabilities, their gradient."""
PROMPT_TOKENS_AT_ONCE = 8_192
"""Of prompts that are read without being continued, padding included."""
ROOM = 65
"""Tokens that the cache of a row grows by. Not a power of two: the rows would share a few lines of a processor's cache."""
JOINED_BELOW = 1 << 20
"""Matrices of fewer numbers are copied side by side for sampling: larger ones gain nothing and would take their memory
twice."""
ROWS_IN_BF16 = 256
"""Products in bf16 are prepared anew for every number of rows, and kept: that takes time and memory, so few numbers occur."""
BEGINNING = 32
"""Tokens that prompts must have in common for them to be read once. Each beginning costs further operations in every layer and
step, which fewer tokens would not repay; a chat template with its system prompt has about a hundred."""
LOGITS_KEPT = 1 << 26
"""Of all chunks of a micro-batch, for its backward pass: 256 MiB in fp32. Beyond it they are computed again."""
WIDE = 8_192
"""Words from which on a token is drawn in two steps: first the block that it is in."""
