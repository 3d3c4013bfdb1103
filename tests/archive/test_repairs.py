"""Nearly right programs: their right ends are kept, the rest is written, and the whole is what was wanted."""

from array import array

import pytest
from hypothesis import given, strategies as st

from kolmocli.archive.format.stored import resolve
from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.archive.search.repairs import repair
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse

PROGRAM = parse("a = range_func_interval(0, 90, 3)\noutput = reverse_list(a)")
MADE = evaluate(PROGRAM)


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ([*MADE[:12], 1, 2, *MADE[14:]], [1, 2]),
        ([*MADE, 5, 6], [5, 6]),
        ([5, 6, *MADE], [5, 6]),
        (MADE[4:], []),
        (MADE[:-4], []),
        ([*MADE[:10], *MADE[15:]], []),
        ([9, *MADE[1:-1], 9], [9, *MADE[1:-1], 9]),
    ],
)
def test_what_is_written(target, written):
    mended = repair(PROGRAM, MADE, target, 8.0)
    assert (list(mended.fresh) if mended else target) == written


@given(st.lists(st.sampled_from([0, 3, 6, 84, 87]), max_size=40))
def test_a_repair_makes_the_target(target):
    for wanted in (target, MADE[:20] + target, target + MADE[9:], MADE[:12] + target + MADE[16:]):
        mended = repair(PROGRAM, MADE, wanted, 8.0)
        if mended is not None:
            assert evaluate(resolve(mended.program, array("B"), mended.fresh)) == wanted


class NearlyRight:
    """A proposer whose program is wrong in two places."""

    program = parse("a = range_func_interval(3, 163, 5)\nb = scan_add(a)\noutput = modulo_item_list(b, 97)")

    def propose(self, targets, samples, seed):
        return [[self.program] for _ in targets]


def test_a_nearly_right_proposal_is_kept_with_its_repair():
    wrong = bytearray(evaluate(NearlyRight.program))
    wrong[14:16] = b"\1\2"
    data = bytes(range(60)) + wrong + bytes(range(200, 100, -1))
    archive, reports = compress_with_reports(data, Options(proposer=NearlyRight(), view="u8"))
    assert decompress(archive) == data
    assert reports[0].proposed > 0
    assert len(archive) < len(compress_with_reports(data, Options(view="u8"))[0])
