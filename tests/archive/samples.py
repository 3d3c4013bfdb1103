"""Data for the archive's tests, made from a seed: structured, random, and in between."""

import random
import struct

from kolmocli.language.sampler import sample


def sampled(size, seed=0):
    """Concatenated results of sampled programs, boundaries unknown."""
    rng = random.Random(seed)
    out = bytearray()
    while len(out) < size:
        out += bytes(sample(rng).sequence)
    return bytes(out[:size])


def text(size, seed=0):
    rng = random.Random(seed)
    words = [
        "the",
        "of",
        "and",
        "to",
        "in",
        "a",
        "is",
        "that",
        "for",
        "it",
        "as",
        "was",
        "with",
        "be",
        "by",
        "on",
        "not",
        "he",
        "his",
        "but",
        "at",
        "are",
        "this",
        "have",
    ]
    marks = ["", "", "", ",", ".", "\n"]
    return " ".join(rng.choice(words) + rng.choice(marks) for _ in range(size)).encode()[:size]


def noise(size, seed=0):
    return random.Random(seed).randbytes(size)


def counter(count, start=1_700_000_000, step=60):
    return struct.pack(f"<{count}i", *(start + step * i for i in range(count)))


def lines(count, start=1000, step=7):
    return "".join(f"{start + step * i}\n" for i in range(count)).encode()


SMALL = {
    "empty": b"",
    "one": b"a",
    "ramp": bytes(range(7, 250, 3)),
    "period": bytes([3, 1, 4, 1, 5, 9, 2, 6]) * 9,
    "mixed": bytes(range(40))
    + b"some words of text, and then"
    + bytes([9] * 50)
    + noise(20)
    + bytes(range(90, 20, -2)),
    "interleaved": bytes(x for pair in zip(range(10, 60), noise(50), strict=True) for x in pair),
    "sampled": sampled(400),
    "noise": noise(64),
    "text": text(300),
    "counter": counter(60),
    "lines": lines(80),
    "odd counter": counter(50) + b"xyz",
}
