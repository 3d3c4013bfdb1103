"""report.html: complete in one file, and inert whatever a model wrote."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from monitor_samples import bucket_line, history_of

from kolmocli.errors import UsageError
from kolmocli.monitor.plots import FIGURES, write_report
from kolmocli.monitor.report import render


class Page(HTMLParser):
    """Tags and text of a page; fails on a tag that is not closed."""

    VOID = ("meta", "img", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_report_holds_everything_in_one_file(reported: Path) -> None:
    path = reported / "report.html"
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(images) == len(FIGURES)
    for attrs in images:
        kind, data = str(attrs["src"]).split(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data).startswith(b"\x89PNG")
        assert attrs["alt"]
    text = "".join(page.words)
    for said in (
        "quick", "40 REINFORCE steps in 0:50", "strides", "21% → 42%", "a = 1\nb = a", "name: quick & dirty",
        "it makes 7 9", "level 2: RUNTIME", "warm start, answers: −log2 p",
    ):  # fmt: skip
        assert said in text
    assert "http://" not in html and "https://" not in html
    assert not any(tag in ("script", "link", "iframe", "object") for tag, _ in page.tags)


def test_what_models_write_stays_text() -> None:
    evil = "</pre><script>alert(1)</script>\x1b[2J"
    step = {"step": 1, "phase": "rl", "buckets": {evil: bucket_line(state=evil)}, "in_band": 0.5}
    events = [
        {"kind": "best", "step": 1, "family": evil, "bits": 3, "target": evil, "program": evil},
        {"kind": evil, "step": 1, "note": evil},
        {"kind": "failing", "step": 1, "family": evil, "level": evil, "verdict": evil, "target": evil, "program": evil},
        {"kind": "eval", "step": 1, "name": evil, "accuracy": 0.5},
    ]
    html = render(history_of(step, events=events, summary={"sandbox": {"backend": evil}}, name=evil), {}, evil)
    page = Page(html)
    assert not any(tag == "script" for tag, _ in page.tags)
    assert html.count("<pre>") == 3
    assert "".join(page.words).count("alert(1)") >= 8


def test_the_ways_of_learning_stand_side_by_side() -> None:
    warm = [{"step": i, "phase": "warmup", "answers": 4, "answer_bits_total": 40.0 * i, "flops": 2e9} for i in (1, 2)]
    played = {
        "step": 1,
        "phase": "rl",
        "rollouts": 16,
        "bits_total": 8.0,
        "answers": 0,
        "answer_bits_total": 0.0,
        "flops": 1e9,
    }
    html = render(history_of(*warm, played), {})
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", html)
    assert [row.split("</td><td>") for row in rows[:2]] == [
        ["warm start, answers: −log2 p", "8", "10.0", "80", "4", "20.0"],
        ["REINFORCE, rollouts: H(p)", "16", "0.500", "8", "1", "8.00"],
    ]
    assert "hindsight" not in html


def test_a_run_without_steps_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("name: begun\n")
    (path,) = write_report(tmp_path)
    text = "".join(Page(path.read_text(encoding="utf-8")).words)
    assert "0 REINFORCE steps so far" in text
    assert "None" not in text and "nan" not in text
    with pytest.raises(UsageError, match="no such run folder"):
        write_report(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="empty: holds no run"):
        write_report(tmp_path / "empty")
