"""What goes in comes out, and is never much larger than what the best standard codec makes of it."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from kolmocli.archive.format.container import Section, write_member
from kolmocli.archive.format.views import FORMATS
from kolmocli.archive.opener import decompress, members
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress, compress_with_reports
from kolmocli.evaluation.baselines import codecs
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse

from . import samples

MOST_OVERHEAD = 16


def overhead(data, **options):
    archive, _ = compress_with_reports(data, Options(**options))
    assert decompress(archive) == data
    return len(archive) - min(len(codec(data)) for codec in codecs().values())


pieces = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda a, n, s: bytes((a + s * i) % 256 for i in range(n)),
        st.integers(0, 255),
        st.integers(0, 80),
        st.integers(-9, 9),
    ),
    st.builds(lambda b, n: b * n, st.binary(min_size=1, max_size=9), st.integers(0, 30)),
    st.builds(
        lambda a, b: bytes(x for p in zip(a, b, strict=False) for x in p),
        st.just(bytes(range(50))),
        st.binary(max_size=50),
    ),
)


@given(st.lists(pieces, max_size=6).map(b"".join))
@settings(max_examples=120, deadline=None)
def test_structured_data(data):
    assert overhead(data) <= MOST_OVERHEAD


@pytest.mark.parametrize("size", [0, 1, 2, 127, 128, 129, 4096])
@pytest.mark.parametrize("kind", [samples.noise, samples.text, samples.sampled])
def test_sizes(kind, size):
    assert overhead(kind(size)) <= MOST_OVERHEAD


@pytest.mark.parametrize("name", samples.SMALL | samples.RULED)
def test_small_files(name):
    assert overhead((samples.SMALL | samples.RULED)[name]) <= MOST_OVERHEAD


@pytest.mark.slow
@pytest.mark.parametrize("kind", [samples.noise, samples.text, samples.sampled])
def test_a_megabyte(kind):
    assert overhead(kind(1 << 20)) <= MOST_OVERHEAD


def test_sampled_sequences_are_far_smaller_than_with_xz():
    data = samples.sampled(150_000, seed=8)
    archive, reports = compress_with_reports(data)
    assert decompress(archive) == data
    assert len(archive) < 0.78 * len(codecs()["xz"](data))
    assert reports[0].programs > 1000


@pytest.mark.parametrize(
    "data",
    [
        samples.counter(2000),
        samples.lines(2000),
        samples.counter(1000)[:-1],
        bytes([*range(0, 200, 3), *range(200, 0, -3)]) * 30,
    ],
    ids=["counter", "lines", "cut counter", "triangle wave"],
)
def test_ruled_numbers_are_half_the_size_of_the_best_codec(data):
    archive, _ = compress_with_reports(data)
    assert decompress(archive) == data
    assert 2 * len(archive) < min(len(codec(data)) for codec in codecs().values())


NOISY = ("walk", "two walks", "readings", "numbers", "records", "numbers with a header", "stations")


@pytest.mark.parametrize("name", [name for name in samples.RULED if name not in NOISY])
def test_numbers_that_follow_from_the_ones_before_are_half_the_size_of_the_best_codec(name):
    data = samples.RULED[name]
    assert 2 * len(compress(data)) < min(len(codec(data)) for codec in codecs().values())


@pytest.mark.parametrize("name", NOISY)
def test_noise_around_a_rule_is_smaller_than_with_the_best_codec(name):
    data = samples.RULED[name]
    assert len(compress(data)) < 0.8 * min(len(codec(data)) for codec in codecs().values())


def test_a_large_member_has_no_more_than_sixteen_bytes_of_its_own():
    for size in (1 << 16, (1 << 24) - 1, 1 << 24, 1 << 26):
        header = write_member(size, (Section(5, b""),), bytes(4))
        assert len(header) <= MOST_OVERHEAD, size


@pytest.mark.parametrize("view", FORMATS)
def test_every_view_is_exact_on_any_data(view):
    rng = random.Random(view)
    for data in [
        *samples.SMALL.values(),
        rng.randbytes(203),
        samples.lines(30)[:-1],
        b"007\n8\n",
        b"-3\n-1\n1\n3\n5\n",
    ]:
        archive, _ = compress_with_reports(data, Options(view=view))
        assert decompress(archive) == data


@pytest.mark.parametrize("level", range(10))
def test_every_level(level):
    for data in (samples.SMALL["sampled"], samples.SMALL["mixed"], b""):
        archive, _ = compress_with_reports(data, Options(level=level))
        assert decompress(archive) == data


def test_members_stand_one_behind_the_other():
    parts = [samples.SMALL[name] for name in ("ramp", "text", "empty", "sampled")]
    archive = b"".join(compress(p) for p in parts)
    assert decompress(archive) == b"".join(parts)
    assert [m.size for m in members(archive)] == [len(p) for p in parts]


def test_the_same_data_give_the_same_archive():
    data = samples.sampled(3000, seed=4)
    assert compress(data) == compress(data)


class Oracle:
    """A proposer that knows one rule, and also proposes wrong and failing programs."""

    def __init__(self, text):
        self.texts = ["x = range_func_up(1, 3)", "x = set_list([1])\ny = modulo_item_list(x, 0)", text]
        self.asked = []

    def propose(self, targets, samples, seed):
        self.asked += targets
        return [[parse(t) for t in self.texts] for _ in targets]


def test_a_proposed_program_is_kept_only_where_it_is_right():
    """30 items that no search finds: running sums of remainders of running sums, modulo 251, taken backwards."""
    rule = (
        "a = range_func_interval(3, 253, 5)\nb = scan_add(a)\nc = modulo_item_list(b, 97)\nd = scan_add(c)\n"
        "e = modulo_item_list(d, 251)\nf = get_subsequence_between_indices(e, 0, 30)\noutput = reverse_list(f)"
    )
    hidden = bytes(evaluate(parse(rule)))
    data = bytes(range(60)) + hidden + bytes(range(200, 100, -1))
    oracle = Oracle(rule)
    archive, reports = compress_with_reports(data, Options(proposer=oracle))
    assert decompress(archive) == data
    assert tuple(hidden) in oracle.asked
    assert reports[0].proposed == 1
    assert len(archive) < len(compress(data))


def test_decoding_needs_no_torch_and_no_numpy(tmp_path):
    archive = tmp_path / "a.klm"
    archive.write_bytes(compress_with_reports(samples.SMALL["sampled"])[0])
    script = (
        "import sys\n"
        "for name in ('torch', 'numpy', 'docker', 'transformers', 'pydantic'): sys.modules[name] = None\n"
        "from kolmocli.archive.opener import decompress\n"
        f"sys.stdout.buffer.write(decompress(open({str(archive)!r}, 'rb').read()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.stdout == samples.SMALL["sampled"], done.stderr.decode()
