"""How far the packing of some data is, and how long it still takes."""

from __future__ import annotations

import pytest

from kolmocli.archive.options import Options
from kolmocli.archive.packer import PART_BYTES, compress_with_reports
from kolmocli.archive.progress import Stages, TimeLeft, part_of, without_share

from .samples import sampled


class Heard:
    def __init__(self) -> None:
        self.said: list[tuple[str, float | None]] = []

    def __call__(self, stage: str, done: float | None = None) -> None:
        self.said.append((stage, done))

    @property
    def shares(self) -> list[float]:
        return [done for _, done in self.said if done is not None]


@pytest.mark.parametrize(("size", "large"), [(20_000, 1 << 18), (60_000, 1 << 14)], ids=["small", "large"])
def test_what_is_done_only_grows_up_to_the_comparison(size: int, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large is searched in chunks, and only where a look at it pays."""
    for place in ("attempts.CHUNK_ITEMS", "attempts._LARGE", "probe._LARGE"):
        monkeypatch.setattr(f"kolmocli.archive.search.{place}", large)
    heard = Heard()
    compress_with_reports(sampled(size), progress=heard)
    assert heard.said[0] == ("codecs", None)
    assert heard.shares == sorted(heard.shares)
    assert heard.shares[0] == 0 and 0.5 < heard.shares[-1] < 1
    stages = list(dict.fromkeys(stage for stage, _ in heard.said))
    assert {"search u8", "code", "verify"} < set(stages)
    assert stages[-1] == "verify"


def test_large_data_count_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kolmocli.archive.packer.PART_BYTES", 20_000)
    assert PART_BYTES > 20_000
    heard = Heard()
    compress_with_reports(sampled(60_000), Options(level=3), heard)
    begun = [done for stage, done in heard.said if stage == "search u8"]
    assert begun == pytest.approx([0, 1 / 3, 2 / 3])


def test_each_stage_is_half_of_what_is_left() -> None:
    heard = Heard()
    stages = Stages(heard)
    stages.begin("search")
    stages.at("search", 0.5)
    stages.begin("code")
    stages.begin("verify")
    assert heard.said == [("search", 0.0), ("search", 0.25), ("code", 0.5), ("verify", 0.75)]


def test_a_part_counts_as_a_stretch_and_one_file_of_many_as_nothing() -> None:
    heard = Heard()
    part_of(heard, 0.5, 0.75)("code", 0.5)
    part_of(heard, 0.5, 0.75)("codecs")
    without_share(heard)("code", 0.5)
    assert heard.said == [("code", 0.625), ("codecs", None), ("code", None)]


def test_the_time_left_follows_the_pace_since_a_share_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("kolmocli.archive.progress.time.monotonic", lambda: now)
    left = TimeLeft()
    assert left.after(None) is None
    now = 150.0  # what came before has no pace
    assert left.after(0.1) is None
    now = 151.0
    assert left.after(0.12) is None  # too early
    now = 160.0
    assert left.after(0.6) == pytest.approx(8.0)
    assert left.after(1.0) == 0.0
