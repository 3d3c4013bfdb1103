"""Damaged and hostile archives: an error or the right data, never wrong data, a hang or a crash."""

import functools
import random
import tracemalloc

import pytest
from hypothesis import given, settings, strategies as st

from kolmocli.archive.codecs.codecs import CODECS, SPLIT, unpack
from kolmocli.archive.errors import ArchiveError, ArchiveLimitError
from kolmocli.archive.format.container import MAGIC, PROGRAMS, Section, digest, write_member
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.stored import Earlier, StoredCall, stored
from kolmocli.archive.opener import decompress
from kolmocli.archive.packer import compress, varint
from kolmocli.errors import KolmoError
from kolmocli.language.program import parse

from . import samples

DATA = samples.SMALL | samples.SHORT
LIMIT = 1 << 20


@functools.cache
def archive_of(name):
    return compress(DATA[name])


def try_to_decode(archive, original):
    """True where the original came out; an error of the archive is fine, anything else fails the test."""
    try:
        data = decompress(bytes(archive), LIMIT)
    except KolmoError:
        return False
    assert data == original
    return True


@pytest.mark.parametrize("name", DATA)
def test_every_single_byte_flip(name):
    archive, original = archive_of(name), DATA[name]
    rng = random.Random(name)
    for position in range(len(archive)):
        for flip in {1 << rng.randrange(8), 255, rng.randrange(1, 256)}:
            damaged = bytearray(archive)
            damaged[position] ^= flip
            try_to_decode(damaged, original)


@pytest.mark.parametrize("name", DATA)
def test_every_truncation_is_an_error(name):
    archive = archive_of(name)
    for end in range(len(archive)):
        with pytest.raises(ArchiveError):
            decompress(archive[:end], LIMIT)


@pytest.mark.parametrize("name", DATA)
def test_bytes_behind_the_end_are_an_error(name):
    for rest in (b"\0", b"garbage", MAGIC):
        with pytest.raises(ArchiveError):
            decompress(archive_of(name) + rest, LIMIT)


def test_splices():
    seed = 20
    rng = random.Random(seed)
    names = list(DATA)
    wholes = set(DATA.values())
    for _ in range(10_000):
        a, b = archive_of(rng.choice(names)), archive_of(rng.choice(names))
        spliced = a[: rng.randrange(len(a) + 1)] + b[rng.randrange(len(b) + 1) :]
        try:
            data = decompress(spliced, LIMIT)
        except KolmoError:
            continue
        # whole members may meet at the cut
        assert data in wholes or any(data.startswith(w) for w in wholes if w), f"seed {seed}"


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_program_stream(stream):
    """A stream of random bytes behind a header that is right."""
    member = write_member(200, (Section(PROGRAMS, bytes([0]) + varint(200) + stream),), b"0000")
    with pytest.raises(ArchiveError):
        decompress(member)


@pytest.mark.parametrize("number", CODECS)
@given(payload=st.binary(max_size=200))
@settings(deadline=None, max_examples=60)
def test_any_payload(number, payload):
    try:
        data = unpack(number, payload, 500)
    except ArchiveError:
        return
    assert len(data) <= 500


@pytest.mark.parametrize("number", CODECS.keys() - {SPLIT})
def test_a_codec_bomb_stops_at_the_declared_size(number):
    payload = CODECS[number].encode(bytes(8 << 20), 6)
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError):
            unpack(number, payload, 1000)
        assert tracemalloc.get_traced_memory()[1] < (2 << 20) + len(payload)
    finally:
        tracemalloc.stop()


def program_member(size, *programs):
    coder, model = Encoder(), ProgramCoder()
    for program in programs:
        model.code(coder, program)
    sections = (Section(PROGRAMS, bytes([0]) + varint(size) + coder.finish()),)
    return write_member(size, sections, digest(size, bytes([PROGRAMS]), bytes(size)))


@pytest.mark.parametrize(
    "program",
    [
        stored(parse("x = repeat_num(900000, 0)\n" + "x = concatenate(x, x)\n" * 20)),
        stored(parse("x = repeat_num(99999999999, 0)")),
        stored(parse("x = range_func_up(0, 99999999999)")),
        stored(parse("x = repeat_num(9, 99999999999)")),
        stored(parse("x = repeat_num(9, -1)")),
        stored(parse("x = repeat_num(9, 1)\ny = modulo_item_list(x, 0)")),
        stored(parse("x = repeat_num(0, 1)")),
        (StoredCall("set_list", (Earlier(1, 5),)),),
        (StoredCall("set_list", (Earlier(5, 1 << 40),)),),
    ],
    ids=[
        "doubling",
        "repeat",
        "ramp",
        "large item",
        "negative item",
        "modulo 0",
        "nothing",
        "before the start",
        "long copy",
    ],
)
def test_hostile_programs(program):
    with pytest.raises(ArchiveError):
        decompress(program_member(1 << 20, program))


def test_work_is_bounded():
    """Programs that make much and leave little."""
    wasteful = stored(parse("x = repeat_num(500000, 0)\ny = get_subsequence_between_indices(x, 0, 1)"))
    with pytest.raises(ArchiveError, match="items"):
        decompress(program_member(5000, *[wasteful] * 100))


def test_a_declared_size_above_the_limit_is_refused_at_once():
    archive = write_member(1 << 50, (), b"0000")
    with pytest.raises(ArchiveLimitError, match="limit"):
        decompress(archive)


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [(0, b"PK", "not a kolmo archive"), (3, b"\x41", "format version 4"), (3, b"\x32", "language version 2")],
)
def test_other_versions_and_files_are_named(position, value, message):
    archive = bytearray(archive_of("text"))
    archive[position : position + len(value)] = value
    with pytest.raises(ArchiveError, match=message):
        decompress(bytes(archive))


def test_an_unknown_optional_section_is_skipped_and_a_required_one_refused():
    data = b"plain"
    for tag, readable in ((200, True), (77, False)):
        sections = (Section(0, data), Section(tag, b"?"))
        archive = write_member(len(data), sections, digest(len(data), bytes([0, tag]), data))
        if readable:
            assert decompress(archive) == data
        else:
            with pytest.raises(ArchiveError, match="section 77"):
                decompress(archive)
