"""The patterns by which transformers renames weights, made once in the parent of all commands under test, and not by each of them.

It compiles a thousand the first time that a process loads or saves a model, which takes most of a second.
"""

from __future__ import annotations

from transformers.conversion_mapping import get_checkpoint_conversion_mapping

get_checkpoint_conversion_mapping("llama")
