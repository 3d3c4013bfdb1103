"""Find the programs behind some data, and keep these in place of the data.

python examples/archive.py
"""

import lzma

import kolmocli as kolmo


def readings(count: int = 2000) -> bytes:
    """What a sensor writes: a time every minute, and a temperature that rises and falls."""
    wave = [*range(0, 2500, 25), *range(2500, 0, -25)]
    rows = (f"{1_700_000_000 + 60 * i},{wave[i % len(wave)] / 100:.2f},ok\n" for i in range(count))
    return "".join(rows).encode()


def main() -> None:
    data = readings()
    archive = kolmo.compress(data, level=9)
    assert kolmo.decompress(archive) == data
    print(f"{len(data)} bytes: {len(lzma.compress(data, preset=9))} in xz, {len(archive)} as programs")
    explanation = kolmo.explain(archive)
    print(explanation)
    print(f"{len(explanation.members[0].blocks)} programs; the first makes {explanation.members[0].blocks[0].place}")


if __name__ == "__main__":
    main()
