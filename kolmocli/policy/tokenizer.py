"""The tokenizer of the presets: one token per integer 0-255, function, variable and mark.

Encoding then decoding a program gives the same text, character by character: separators are part of the
marks (" = ", ", "), and decoding only joins. Integers beyond 0-255 are written digit by digit.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, decoders
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

from kolmocli.language.program import FUNCTION_NAMES
from kolmocli.policy.presets import PROMPT_MARKS

PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"
VARIABLES = tuple(f"sequence_{i}" for i in range(1, 33))
MARKS = (" = ", ", ", "(", ")", "[", "]", "-", "\n")
_BYTE = r"(?<!\d)(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?!\d)"
_PATTERN = rf"<[a-z]+>|[a-z]+(?:_[a-z0-9]+)*|{_BYTE}|\d| = |, |[()\[\]\n-]"


READS_SEGMENTS = "reads_segments"
"""The setting of a saved tokenizer whose model is shown sequences as segments."""


def build_tokenizer(reads_segments: bool = False) -> PreTrainedTokenizerFast:
    """A fast tokenizer that `AutoTokenizer.from_pretrained` loads again from its folder."""
    words = (
        PAD, EOS, UNKNOWN, *PROMPT_MARKS["programs"], *MARKS, *map(str, range(256)), *FUNCTION_NAMES, *VARIABLES, "output",
    )  # fmt: skip
    split = Split(Regex(_PATTERN), behavior="removed", invert=True)
    said = {READS_SEGMENTS: True} if reads_segments else {}
    return word_tokenizer(words, split, [*PROMPT_MARKS["programs"]], **said)


def word_tokenizer(words: Sequence[str], split: Split, marks: list[str], **said: bool) -> PreTrainedTokenizerFast:
    """One token per word, numbered in this order; `split` finds the words, and decoding only joins.

    `words` hold PAD, EOS and UNKNOWN, and the `marks` of a prompt, which are special tokens too. What is `said` is saved with it.
    """
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNKNOWN,
        additional_special_tokens=marks,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
        **said,
    )
