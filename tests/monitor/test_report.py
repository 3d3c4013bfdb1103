"""report.html: complete in one file, and inert whatever a model wrote."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from monitor_samples import bucket_line, history_of

from kolmocli.cli import report as command
from kolmocli.errors import KolmoError, UsageError
from kolmocli.monitor.plots import FIGURES, write_report
from kolmocli.monitor.records import WarmRecord
from kolmocli.monitor.report import render
from kolmocli.monitor.tensorboard import TensorBoardLog, export
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


def test_a_run_without_steps_has_nothing_to_report(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("name: begun\n")
    with pytest.raises(KolmoError, match=r"metrics\.jsonl: no step in it, and so nothing to report") as refusal:
        write_report(tmp_path)
    assert refusal.value.exit_code == 1
    assert [file.name for file in tmp_path.iterdir()] == ["config.yaml"]
    with pytest.raises(UsageError, match="no such run folder"):
        write_report(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="empty: holds no run"):
        write_report(tmp_path / "empty")


def test_a_run_in_its_warm_start_has_a_page(tmp_path: Path) -> None:
    with RunLog(tmp_path) as log:
        log.step(WarmRecord(step=1, loss=2.0))
    *_, page = write_report(tmp_path)
    text = "".join(Page(page.read_text(encoding="utf-8")).words)
    assert "0 REINFORCE steps so far" in text
    assert "None" not in text and "nan" not in text


def test_a_page_is_said_to_be_of_half_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunLog(tmp_path) as log:
        log.step(WarmRecord(step=1, loss=2.0))
    command.report([tmp_path])
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        f"kolmo: {tmp_path}/config.yaml: missing",
        f"kolmo: {tmp_path}/events.jsonl: empty",
    ]
    assert shown.out.endswith(f"{tmp_path}/report.html\n")


def test_a_picture_replaces_a_link_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    """A run folder may come from somebody else."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in ("plots/loss.png", "report.html"):
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).symlink_to(mine)
    with RunLog(tmp_path / "run") as log:
        log.step(WarmRecord(step=1, loss=2.0))
    assert tmp_path / "run" / "plots" / "loss.png" in write_report(tmp_path / "run")
    assert mine.read_text() == "mine"
    assert not (tmp_path / "run" / "plots" / "loss.png").is_symlink()


@pytest.mark.parametrize("there", [True, False], ids=["to a folder", "to nothing"])
def test_a_folder_that_is_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path, there: bool) -> None:
    mine = tmp_path / "mine"
    if there:
        mine.mkdir()
        for name in ("loss.png", "events.out.tfevents.1"):
            (mine / name).write_text("mine")
    with RunLog(tmp_path / "run") as log:
        log.step(WarmRecord(step=1, loss=2.0))
    for name in ("plots", "tensorboard"):
        (tmp_path / "run" / name).symlink_to(mine)
    write_report(tmp_path / "run")
    export(tmp_path / "run")
    TensorBoardLog(tmp_path / "run").close()
    assert not any((tmp_path / "run" / name).is_symlink() for name in ("plots", "tensorboard"))
    assert (tmp_path / "run" / "plots" / "loss.png").is_file()
    assert mine.exists() is there
    assert {path.name: path.read_text() for path in mine.glob("*")} == dict.fromkeys(
        ("loss.png", "events.out.tfevents.1") if there else (), "mine"
    )


def test_a_configuration_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(
        KolmoError, match=r"config\.yaml: not a text file in UTF-8; put back what was in it, or remove it$"
    ):
        write_report(tmp_path)


@pytest.mark.parametrize("in_the_way", ["plots", "report.html"])
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, in_the_way: str) -> None:
    """As one on a disk that is mounted read-only, or is full."""
    with RunLog(tmp_path) as log:
        log.step(WarmRecord(step=1, loss=2.0))
    if in_the_way == "plots":
        (tmp_path / in_the_way).write_text("")
    else:
        (tmp_path / in_the_way).mkdir()
    with pytest.raises(KolmoError, match=rf"{in_the_way}.*: cannot be written: "):
        write_report(tmp_path)
