"""A policy as the proposer of an archive: the ladder of temperatures, and an archive that opens without it."""

import pytest

from kolmocli.archive.opener import decompress
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.policy.proposer import TEMPERATURES, PolicyProposer
from tests.policies import tiny

TARGETS = [(1, 2, 3, 4), (7, 7, 7)]


class Watched:
    """A policy that notes how it is asked."""

    def __init__(self):
        self.policy, self.asked = tiny(), []
        self.model, self.is_preset = self.policy.model, self.policy.is_preset

    def rollout(self, prompts, *, samples, generator, temperature, max_new_tokens):
        self.asked.append((samples, None if generator is None else temperature))
        return self.policy.rollout(
            prompts, samples=samples, generator=generator, temperature=temperature, max_new_tokens=6
        )


@pytest.mark.parametrize(
    ("samples", "asked"),
    [
        (1, [(1, None)]),
        (2, [(1, None), (1, TEMPERATURES[0])]),
        (5, [(1, None), (2, TEMPERATURES[0]), (1, TEMPERATURES[1]), (1, TEMPERATURES[2])]),
    ],
)
def test_the_samples_are_shared_out_among_the_temperatures(samples, asked):
    watched = Watched()
    proposals = PolicyProposer(watched).propose(TARGETS, samples, seed=3)
    assert watched.asked == asked
    assert len(proposals) == len(TARGETS)
    assert proposals == PolicyProposer(watched).propose(TARGETS, samples, seed=3)


def test_an_archive_made_with_a_policy_opens_without_it():
    data = bytes([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]) + bytes(range(0, 90, 3))
    archive, _ = compress_with_reports(data, Options(level=2, proposer=PolicyProposer(Watched()), samples=3, view="u8"))
    assert decompress(archive) == data
