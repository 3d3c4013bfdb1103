"""Endpoints that never answer, answer without end, say the key back, or write to the terminal."""

from __future__ import annotations

import gzip
import json
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.endpoint import Answer, Endpoint, key_from_environment
from kolmocli.evaluation.prompt import program_messages
from tests.conftest import KOLMO, Run, command_environment
from tests.evaluation.served import Replies, Reply, Served, asked_for, says

Serve = Callable[[Replies], Served]
KEY = "sk-0123456789abcdef"


def ask(endpoint: Endpoint) -> Answer:
    with endpoint.asking([program_messages((1, 2, 3))]) as answers:
        return answers[0].result()


def refusal(served: Served, key: str | None = None) -> str:
    """The line that it ends with."""
    with pytest.raises(KolmoError) as caught:
        ask(Endpoint(served.url, "m", key=key, first_wait=0.001))
    return str(caught.value)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_and_keeps_what_was_answered(serve: Serve, tmp_path: Path, number: int, code: int) -> None:
    """The first sequence is never answered, the others are: they come out of turn."""
    silent = threading.Event()

    def reply(_number: int, body: dict[str, Any]) -> Reply:
        first = asked_for(body)[0]
        if first == 0:
            silent.wait(60)
        return says(f"output = [{first}] * 9")

    served = serve(reply)
    data, saved = tmp_path / "d.jsonl", tmp_path / "saved.jsonl"
    data.write_text("".join(json.dumps({"sequence": [i] * 9}) + "\n" for i in range(8)))
    command: list[object] = [KOLMO, "eval", "--endpoint", served.url, "--model", "m", "--data", data]
    command += ["--save-predictions", saved, "--sandbox", "embedded"]
    with subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, text=True, env=command_environment()
    ) as process:
        until = time.monotonic() + 60
        while len(served.bodies) < 8 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
        took = time.monotonic() - sent
    silent.set()
    assert (process.returncode, "Traceback" in said) == (code, False), said
    assert took < 10  # a request waits for ten minutes
    kept = [json.loads(line)["generation"] for line in saved.read_text().splitlines()]
    assert sorted(kept) == [f"output = [{i}] * 9" for i in range(1, 8)]


def said(content: Any) -> Replies:
    message = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    return lambda number, body: (200, {}, json.dumps(message))


def test_of_a_message_in_parts_the_text_counts(serve: Serve) -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "output "}, {"type": "text", "text": "= 1"}]
    for content, text in ((parts, "output = 1"), ([], ""), (None, "")):
        assert ask(Endpoint(serve(said(content)).url, "m")).text == text


@pytest.mark.parametrize(
    "content", [3, {"text": "output = 1"}, ["output = 1"], [{"type": "text"}], [{"text": "output = 1"}]]
)
def test_what_is_no_text_is_no_answer_that_failed(serve: Serve, content: Any) -> None:
    assert "not that of an OpenAI-compatible chat endpoint" in refusal(serve(said(content)))


MOST = 8 << 20


def test_a_reply_without_end_is_not_read_to_its_end(serve: Serve) -> None:
    served = serve(lambda number, body: (200, {}, b" " * (6 * MOST)))
    assert refusal(served).endswith("/v1/chat/completions: a reply of more than 8 MiB; no answer is so long")
    served = serve(lambda number, body: (400, {}, b" " * (6 * MOST)))
    assert "a reply of more than 8 MiB" in refusal(served)


def test_a_reply_that_unpacks_without_end_is_not_unpacked(serve: Serve) -> None:
    bomb = gzip.compress(bytes(1 << 28))
    served = serve(lambda number, body: (200, {"Content-Encoding": "gzip"}, bomb))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "a reply that unpacks to more than 8 MiB; no answer is so long" in refusal(served)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_a_packed_reply_is_read(serve: Serve) -> None:
    status, headers, text = says("output = [1]")
    assert isinstance(text, str)
    packed = gzip.compress(text.encode())
    served = serve(lambda number, body: (status, {**headers, "Content-Encoding": "gzip"}, packed))
    assert ask(Endpoint(served.url, "m")).text == "output = [1]"


@pytest.mark.parametrize(
    ("packing", "said"),
    [("gzip", "a reply packed with gzip that cannot be unpacked"), ("br", "packed with 'br', which was not asked for")],
)
def test_a_reply_that_is_packed_otherwise(serve: Serve, packing: str, said: str) -> None:
    assert said in refusal(serve(lambda number, body: (200, {"Content-Encoding": packing}, b"abc")))


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"choices":' * 100_000, '{"error": {"message": ' + "[" * 50_000])
def test_deep_json_is_one_line(serve: Serve, status: int, text: str) -> None:
    said = refusal(serve(lambda number, body: (status, {}, text)))
    assert said.startswith("http://127.0.0.1:")
    assert len(said) < 300


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in text)


@pytest.mark.parametrize(
    "reply",
    [
        (400, {}, json.dumps({"error": {"message": f"Authorization: Bearer {KEY}"}})),
        (400, {}, f"no such header: Bearer {KEY}"),
        (400, {}, "x" * 155 + KEY),
        (400, {}, f'{{"error": {{"message": "{escaped(KEY)}"}}}}'),
        (500, {}, f"Bearer {KEY}"),
        (200, {}, f"<html>{KEY}"),
        (200, {}, "x" * 75 + KEY),
    ],
)
def test_the_key_is_in_no_error(serve: Serve, reply: Reply) -> None:
    said = refusal(serve(lambda number, body: reply), KEY)
    assert KEY[:4] not in said
    assert "***" in said or "xxx" in said


def test_the_key_is_in_no_answer(serve: Serve) -> None:
    served = serve(lambda number, body: says(f"output = [1]  # {KEY}"))
    assert ask(Endpoint(served.url, "m", key=KEY)).text == "output = [1]  # ***"
    served = serve(lambda number, body: says("EMPTY = [1]"))
    assert ask(Endpoint(served.url, "m", key="EMPTY")).text == "EMPTY = [1]", "which guards nothing"


def test_a_key_that_cannot_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOLMO_API_KEY", f"{KEY}\n")
    assert key_from_environment() == KEY
    for wrong in (f"{KEY}\nX-Other: 1", f"{KEY}é"):
        monkeypatch.setenv("KOLMO_API_KEY", wrong)
        with pytest.raises(UsageError, match=r"^KOLMO_API_KEY: has characters that no key has; set it again$"):
            key_from_environment()


def test_neither_is_on_disk_or_on_the_terminal(kolmo: Run, serve: Serve, tmp_path: Path) -> None:
    """The whole command, with the escape codes of the endpoint's words on the way."""
    data, saved = tmp_path / "d.jsonl", tmp_path / "saved.jsonl"
    data.write_text('{"sequence": [1, 1, 1]}\n{"sequence": [2, 2, 2]}\n')

    def reply(number: int, body: dict[str, Any]) -> Reply:
        if asked_for(body)[0] == 2:
            time.sleep(0.5)  # the other is saved by then
            return 400, {}, f"\x1b]0;{KEY}\x07\x1b[2J \x9b5m"
        return says(f"\x1b[31moutput = [1] * 3\n###{KEY}")

    served = serve(reply)
    done = kolmo(
        "eval", "--endpoint", served.url, "--model", "m", "--data", data, "--save-predictions", saved,
        "--sandbox", "embedded", env={"KOLMO_API_KEY": KEY},
    )  # fmt: skip
    assert done.returncode == 1
    assert KEY not in done.stdout + done.stderr + saved.read_text()
    assert r"400 \x1b]0;***\x07\x1b[2J \x9b5m" in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(saved.read_text())["generation"].endswith("###***")
