"""The card of a model in the cache: README.md, as the Hugging Face hub shows it."""

from __future__ import annotations

from kolmocli.models.store import Origin

_CARD = """---
library_name: transformers
pipeline_tag: text-generation
{licence}---
# {name}

{weights}

- From: {source}
{digest}- Written by `kolmo model` as safetensors, with the tokenizer and the chat template of the original.

Nothing was trained. To use it: `kolmo train --model {name}`, or `AutoModelForCausalLM.from_pretrained` with this folder.
"""


def card(name: str, origin: Origin) -> str:
    """The text of the card."""
    return _CARD.format(
        name=name,
        weights=f"{origin.weights[:1].upper()}{origin.weights[1:]}.",
        source=origin.source,
        licence=f"license: {origin.licence.lower()}\n" if origin.licence else "",
        digest=f"- SHA-256 of that file: {origin.sha256}\n" if origin.sha256 else "",
    )
