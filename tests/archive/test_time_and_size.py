"""Large data in parts, noise without the slow codecs, and a deadline that leaves something whole."""

import random
import time

from kolmocli.archive import codecs as codecs_module
from kolmocli.archive import compress as compress_module
from kolmocli.archive.attempts import Options
from kolmocli.archive.codecs import CODECS, pack
from kolmocli.archive.compress import compress
from kolmocli.archive.decompress import decompress, members

from . import samples


def begun(monkeypatch, data, deadline=None):
    """The codecs that pack the data, by name, in the order in which they begin."""
    names = []

    def watched(codec):
        def encode(data, level):
            names.append(codec.name)
            return codec.encode(data, level)

        return codecs_module.Codec(codec.number, codec.name, encode, codec.decode, codec.speed, codec.package)

    monkeypatch.setattr(codecs_module, "_WORTH_PROBES", 1 << 16)
    monkeypatch.setattr(codecs_module, "CODECS", {number: watched(codec) for number, codec in CODECS.items()})
    return pack(data, 3, deadline)[0].name, names


def test_large_noise_is_not_given_to_every_codec(monkeypatch):
    assert begun(monkeypatch, samples.noise(1 << 16)) == ("stored", ["deflate", "lzma"])


def test_far_repeats_in_noise_are_found(monkeypatch):
    kept, names = begun(monkeypatch, samples.noise(1 << 16) * 2)
    assert kept != "stored"
    assert {"lzma", "zstd", "brotli"} <= set(names)


def test_past_the_deadline_only_the_quickest_codec_runs(monkeypatch):
    assert begun(monkeypatch, samples.text(2000), time.monotonic() - 1) == ("deflate", ["stored", "deflate"])
    assert "lzma" in begun(monkeypatch, samples.text(2000), time.monotonic() + 60)[1]


def test_a_deadline_that_has_passed_still_makes_an_archive():
    data = samples.sampled(20_000)
    archive, reports = compress(data, Options(deadline=time.monotonic() - 1))
    assert decompress(archive) == data
    assert reports[0].programs == 0
    assert len(archive) < len(data)


def test_large_data_become_a_member_for_each_part_where_programs_pay(monkeypatch):
    monkeypatch.setattr(compress_module, "PART_BYTES", 4096)
    ruled = samples.counter(2500)
    archive, reports = compress(ruled)
    assert decompress(archive) == ruled
    assert [r.size for r in reports] == [4096, 4096, 1808]
    plain = random.Random(2).randbytes(9000)
    archive, reports = compress(plain)
    assert decompress(archive) == plain
    assert len(members(archive)) == len(reports) == 1
