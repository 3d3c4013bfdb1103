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


def fibonacci(count):
    items = [0, 1]
    while len(items) < count:
        items.append(items[-1] + items[-2])
    return items


def congruential(count):
    x, items = 12345, []
    for _ in range(count):
        x = (1103515245 * x + 12345) % 2**31
        items.append(x)
    return items


def walk(count, most=20, seed=0):
    rng, level = random.Random(seed), 0
    for _ in range(count):
        level += rng.randint(-most, most)
        yield level


def readings(count, seed=0):
    """CSV: a regular time, a noisy decimal, a word."""
    rng = random.Random(seed)
    rows = (f"{1_700_000_000 + 60 * i},{20 + rng.gauss(0, 1):.2f},{rng.choice(['ok', 'off'])}\n" for i in range(count))
    return ("time,temperature,state\n" + "".join(rows)).encode()


def events(count):
    """JSON lines: a rule for every number, shortest decimals."""
    rows = (f'{{"id": {i}, "day": "{1 + i % 28:02d}", "v": {-3 + i / 4}}}\n' for i in range(count))
    return "".join(rows).encode()


def stations(count, seed=0):
    """TSV as people have it: moments, gaps, quotes, words of a list, decimals without zeros, other line ends."""
    rng = random.Random(seed)
    rows = ["when\tname\tstate\tlevel\tvalue"]
    for i in range(count):
        when = f"2024-02-{26 + i // 96:02}" if i < 288 else f"2024-03-{i // 96 - 3 + 1:02}"
        level = "" if i % 17 == 5 else f"{rng.gauss(3, 1):.3f}".rstrip("0").rstrip(".")
        state = rng.choice(["on", "off", "idle"])
        rows.append(
            f'{when} {i // 4 % 24:02}:{15 * (i % 4):02}:00\t"s-{i % 5}"\t{state}\t{level}\t{i * i % 97:6}.{i % 10}'
        )
    return "\r\n".join(rows).encode()


RULED = {
    "fibonacci": ", ".join(map(str, fibonacci(60))).encode() + b"\n",
    "squares": "".join(f"{i * i}\n" for i in range(100)).encode(),
    "cubes": struct.pack("<200I", *(i**3 for i in range(200))),
    "congruential": struct.pack("<100I", *congruential(100)),
    "wrapping counter": bytes(3 * i % 256 for i in range(600)),
    "sawtooth": bytes(7 * i % 251 for i in range(900)),
    "floats": struct.pack("<200f", *(0.25 * i - 3 for i in range(200))),
    "doubles": struct.pack("<150d", *(round(0.1 * i, 1) for i in range(150))) + b"ab",
    "walk": struct.pack("<500h", *walk(500)),
    "two walks": struct.pack("<800i", *(x for p in zip(walk(400), walk(400, 5, 1), strict=True) for x in p)),
    "numbers": struct.pack(">300h", *walk(300, 900)),
    "records": b"".join(struct.pack("<iHf", 60 * i, i * i % 997, x / 3) for i, x in enumerate(walk(250, 90))),
    "numbers with a header": b"HEADER of 24 bytes......" + struct.pack("<400f", *(x / 7 for x in walk(400))) + b"end",
    "stations": stations(260),
    "readings": readings(200),
    "events": events(150),
    "events without an end": events(60)[:-1],
}

SHORT = {
    "short fibonacci": RULED["fibonacci"][:120],
    "short walk": RULED["walk"][:120],
    "short floats": RULED["floats"][:80],
    "short readings": readings(14),
    "short stations": stations(24),
    "short numbers": RULED["numbers"][:200],
    "short records": RULED["records"][:400],
    "short events": events(9),
}
"""One of each view and form that SMALL does not have."""

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
