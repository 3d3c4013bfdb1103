from __future__ import annotations

import pytest
import torch

from kolmocli.policy.building import build_preset, number_features
from kolmocli.policy.presets import PRESETS


@pytest.mark.parametrize("name", [n for n, p in PRESETS.items() if p.count() < 5_000_000])
def test_the_stated_size_is_the_real_number_of_parameters(name: str) -> None:
    assert PRESETS[name].count() == sum(p.numel() for p in build_preset(name, 0).parameters())


def test_tiny_is_under_a_million_parameters() -> None:
    assert PRESETS["tiny"].count() < 1_000_000


def test_weights_come_from_the_seed_alone() -> None:
    one = build_preset("tiny", 1).state_dict()
    torch.rand(7)
    again, other = build_preset("tiny", 1).state_dict(), build_preset("tiny", 2).state_dict()
    assert all(torch.equal(one[k], again[k]) for k in one)
    assert not all(torch.equal(one[k], other[k]) for k in one)


def test_building_draws_nothing_from_the_global_generator() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    build_preset("tiny", 1)
    assert torch.equal(torch.rand(3), expected)


def test_neighbouring_numbers_start_out_alike() -> None:
    features = number_features(64)
    near, far = (features[100] * features[101]).sum(), (features[100] * features[200]).sum()
    assert near > 1.5 * far.abs()
    assert features.square().mean(-1) == pytest.approx(torch.ones(256), abs=1e-5)
