"""Large data in parts, noise without the slow codecs, and a deadline that leaves something whole."""

import random
import struct
import sys
import time
from pathlib import Path

import pytest

from kolmocli.archive import packer as compress_module
from kolmocli.archive.codecs import packing
from kolmocli.archive.codecs.codecs import CODECS, QUICK, QUICKEST, SPLIT, Codec
from kolmocli.archive.codecs.packing import pack
from kolmocli.archive.opener import decompress, members
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress, compress_with_reports
from kolmocli.archive.search import attempts, probe

from . import samples


def begun(monkeypatch, data, deadline=None):
    """The codec that is kept, and the codecs that pack the data with the levels, in the order in which they begin."""
    names = []
    encode = Codec.encode

    def watched(codec, data, level, until=None):
        names.append((codec.name, level))
        return encode(codec, data, level, until)

    monkeypatch.setattr(packing, "_WORTH_PROBES", 1 << 16)
    monkeypatch.setattr(Codec, "encode", watched)
    return pack(data, 6, deadline)[0].name, names


def test_large_noise_is_not_given_to_every_codec(monkeypatch):
    assert begun(monkeypatch, samples.noise(1 << 16)) == ("stored", [("deflate", 6), ("lzma", 6)])


def test_far_repeats_in_noise_are_found(monkeypatch):
    kept, names = begun(monkeypatch, samples.noise(1 << 16) * 2)
    assert kept != "stored"
    assert {"lzma", "zstd", "brotli"} <= {name for name, _ in names}


def test_past_the_deadline_only_the_quickest_codec_runs(monkeypatch):
    text = samples.text(1 << 18)
    assert begun(monkeypatch, text, time.monotonic() - 1) == ("deflate", [("deflate", QUICKEST)])
    assert ("lzma", 6) in begun(monkeypatch, text, time.monotonic() + 60)[1]


def test_past_the_deadline_little_data_are_no_larger_than_at_level_one():
    text = samples.text(2000)
    assert len(pack(text, 6, time.monotonic() - 1)[1]) <= len(pack(text, 1)[1])


def test_a_codec_that_would_take_too_long_runs_quickly_instead(monkeypatch):
    data = samples.text(100_000)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    levels = dict(begun(monkeypatch, data, deadline=0.9 * CODECS[5].seconds(len(data), 6))[1])
    assert levels["bz2"] == 6
    assert levels["brotli"] == QUICK


@pytest.mark.parametrize("codec", [c for c in CODECS.values() if c.number != SPLIT], ids=lambda codec: codec.name)
def test_a_codec_is_given_up_at_its_moment_and_else_makes_the_same_bytes(codec):
    data = samples.text(200_000)
    payload = codec.encode(data, QUICK)
    assert codec.encode(data, QUICK, time.monotonic() + 60) == payload
    assert codec.decode(payload, len(data)) == data
    assert codec.encode(data, QUICK, time.monotonic()) is None


def test_source_code_is_looked_at_and_not_searched(monkeypatch):
    def no_search(*_):
        raise AssertionError("the whole of it is searched")

    monkeypatch.setattr(attempts, "search", no_search)
    source = Path(attempts.__file__).read_bytes() + Path(packing.__file__).read_bytes()
    _, reports = compress_with_reports(source, Options(level=3))
    assert reports[0].programs == 0


def test_only_the_chunks_are_searched_in_which_programs_pay(monkeypatch):
    monkeypatch.setattr(attempts, "CHUNK_ITEMS", 1 << 13)
    text = samples.text(1 << 14)
    chunks = []
    search = attempts.search
    monkeypatch.setattr(attempts, "search", lambda values, *rest: (chunks.append(values), search(values, *rest))[1])
    data = text + samples.sampled(1 << 13) + text
    archive, reports = compress_with_reports(data, Options(level=3, view="u8"))
    assert decompress(archive) == data
    assert reports[0].programs > 100
    assert [bytes(chunk.tolist()) for chunk in chunks] == [data[1 << 14 : 3 << 13]]


@pytest.mark.parametrize("seconds", [0.05, 0.5])
def test_a_time_budget_holds_and_never_costs_the_quickest_codec(seconds):
    """In processor time of two threads, for a busy machine makes any budget late; without one this takes some ten seconds."""
    data = samples.sampled(60_000) + samples.text(20_000)
    began = time.process_time()
    archive, _ = compress_with_reports(data, Options(level=9, deadline=time.monotonic() + seconds))
    assert time.process_time() - began < 2 * seconds + 1
    assert decompress(archive) == data
    assert len(archive) <= len(CODECS[1].encode(data, QUICKEST)) + 16


def test_a_deadline_that_has_passed_still_makes_an_archive():
    data = samples.sampled(20_000)
    archive, reports = compress_with_reports(data, Options(deadline=time.monotonic() - 1))
    assert decompress(archive) == data
    assert reports[0].programs == 0
    assert len(archive) < len(data)


def test_large_data_become_a_member_for_each_part_where_programs_pay(monkeypatch):
    monkeypatch.setattr(compress_module, "PART_BYTES", 4096)
    ruled = struct.pack("<2500I", *samples.congruential(2500))
    archive, reports = compress_with_reports(ruled)
    assert decompress(archive) == ruled
    assert [r.size for r in reports] == [4096, 4096, 1808]
    numbers = samples.counter(2500)
    archive, reports = compress_with_reports(numbers)
    assert decompress(archive) == numbers
    assert [r.size for r in reports] == [10_000]  # as numbers, in one piece
    assert reports[0].codec in ("pcodec", "split")
    assert len(archive) < 3 * 24
    plain = random.Random(2).randbytes(9000)
    archive, reports = compress_with_reports(plain)
    assert decompress(archive) == plain
    assert len(members(archive)) == len(reports) == 1


def test_a_part_without_programs_goes_to_the_codecs_at_their_best(monkeypatch):
    monkeypatch.setattr(compress_module, "PART_BYTES", 4096)
    text = samples.text(4096)
    data = samples.counter(1024) + text + samples.counter(1024, start=5, step=7)
    archive, reports = compress_with_reports(data)
    assert decompress(archive) == data
    assert [r.programs > 0 for r in reports] == [True, False, True]
    assert len(archive) <= len(compress_with_reports(text, Options(level=0))[0]) + 100
    best = compress(text)
    assert members(archive)[1].length <= len(best)


def whole_levels(monkeypatch, data):
    """The archive, its report, and the levels at which all of the data went to the codecs; 64 KiB are large here."""
    levels = []

    def watched(packed, level=6, *rest):
        if packed == data:
            levels.append(level)
        return pack(packed, level, *rest)

    monkeypatch.setattr(probe, "_LARGE", 1 << 16)
    monkeypatch.setattr(compress_module, "pack", watched)
    archive, reports = compress_with_reports(data)
    assert decompress(archive) == data
    return archive, reports[0], levels


def test_strong_codecs_do_not_run_where_programs_are_out_of_their_reach(monkeypatch):
    data = samples.sampled(70_000)
    archive, report, levels = whole_levels(monkeypatch, data)
    assert levels == [QUICK]
    assert report.programs > 1000
    assert len(archive) < len(pack(data, 6)[1])


def test_strong_codecs_run_after_the_search_where_only_the_beginning_was_made_by_programs(monkeypatch):
    data = samples.sampled(5000) + samples.text(70_000)
    archive, _, levels = whole_levels(monkeypatch, data)
    assert levels == [QUICK, 6]
    assert len(archive) <= len(pack(data, 6)[1]) + 16


def test_strong_codecs_run_at_once_where_no_program_is_expected(monkeypatch):
    assert whole_levels(monkeypatch, samples.text(70_000))[2] == [6]


@pytest.mark.parametrize("seconds", [None, 60])
def test_without_pcodec_the_other_codecs_pack(monkeypatch, seconds):
    monkeypatch.setitem(sys.modules, "pcodec", None)
    data = samples.RULED["walk"]
    assert decompress(compress(data, 6, seconds)) == data
