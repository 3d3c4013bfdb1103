"""report.html: complete in one file, and inert whatever a model wrote."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
from pathlib import Path

import pytest
from monitor_samples import bucket, write_run

from kolmocli.errors import UsageError
from kolmocli.monitor.figures import FIGURES, Run
from kolmocli.monitor.report import render, write_report
from kolmocli.monitor.writer import RunLog


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


def test_a_report_holds_everything_in_one_file(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path / "quick", steps=30)
    (run_dir / "config.yaml").write_text("name: quick & dirty\n")
    with RunLog(run_dir, resume_step=30) as log:
        log.event("best", 30, family="ramps", bits=31, literal_bits=200, target="0 1 2", program="a = 1\nb = a")
    path = write_report(run_dir)
    assert path == run_dir / "report.html"
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
    for said in ("quick", "30 REINFORCE steps in 0:50", "strides", "21% → 42%", "a = 1\nb = a", "name: quick & dirty"):
        assert said in text
    assert "http://" not in html and "https://" not in html
    assert not any(tag in ("script", "link", "iframe", "object") for tag, _ in page.tags)


def test_what_models_write_stays_text() -> None:
    evil = "</pre><script>alert(1)</script>\x1b[2J"
    step = {"step": 1, "phase": "rl", "buckets": {evil: bucket(state=evil)}, "in_band": 0.5}
    events = [
        {"kind": "best", "step": 1, "family": evil, "bits": 3, "target": evil, "program": evil},
        {"kind": evil, "step": 1, "note": evil},
        {"kind": "eval", "step": 1, "name": evil, "accuracy": 0.5},
    ]
    html = render(evil, Run([step], events, {"sandbox": {"backend": evil}}), {}, evil)
    page = Page(html)
    assert not any(tag == "script" for tag, _ in page.tags)
    assert html.count("<pre>") == 2
    assert "".join(page.words).count("alert(1)") >= 8


def test_a_run_without_steps_has_a_page(tmp_path: Path) -> None:
    text = "".join(Page(write_report(tmp_path).read_text(encoding="utf-8")).words)
    assert "0 REINFORCE steps so far" in text
    assert "None" not in text and "nan" not in text
    with pytest.raises(UsageError, match="no such run folder"):
        write_report(tmp_path / "nowhere")
