"""Asking a chat endpoint, and what its answers come to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kolmocli.cli.eval_table import render
from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.endpoint import Answer, Endpoint, key_from_environment
from kolmocli.evaluation.foreign import Programs, evaluate_predictions
from kolmocli.evaluation.joined import evaluate_joined
from kolmocli.evaluation.prompt import program_messages
from kolmocli.evaluation.prompted import evaluate_endpoint
from kolmocli.evaluation.report import Reporting
from kolmocli.evaluation.selection import Wanted
from tests.evaluation.served import Replies, Reply, Served, asked_for, says
from tests.evaluation.test_joined import DATA, EMBEDDED, RIGHT, WRONG, write

Serve = Callable[[Replies], Served]


def answers(endpoint: Endpoint, sequences: Sequence[tuple[int, ...]]) -> list[Answer]:
    with endpoint.asking([program_messages(sequence) for sequence in sequences]) as asked:
        return [answer.result() for answer in asked]


def test_answers_come_in_the_order_of_the_questions(serve: Serve) -> None:
    served = serve(lambda number, body: says(f"output = {asked_for(body)}\n###"))
    sequences = [(i, i + 1, -i) for i in range(40)]
    found = answers(Endpoint(served.url, "m", key="sesame"), sequences)
    assert [a.text for a in found] == [f"output = {list(s)}\n###" for s in sequences]
    assert set(served.paths) == {"/v1/chat/completions"}
    assert set(served.keys) == {"Bearer sesame"}
    assert {(b["model"], b["max_tokens"]) for b in served.bodies} == {("m", 1024)}
    assert all("temperature" not in b for b in served.bodies)


def test_a_busy_endpoint_is_asked_again(serve: Serve) -> None:
    replies = [(503, {}, "busy"), (429, {"Retry-After": "0"}, "slow down"), says("output = [1]")]
    served = serve(lambda number, body: replies[number - 1])
    told = list[str]()
    endpoint = Endpoint(served.url, "m", first_wait=0.01, note=told.append)
    assert [a.text for a in answers(endpoint, [(1,)])] == ["output = [1]"]
    assert len(served.bodies) == 3
    assert told == [
        f"{endpoint.address}: {reason}; asked again, 6 times in all" for reason in ("503 busy", "429 slow down")
    ]


def test_patience_ends(serve: Serve) -> None:
    served = serve(lambda number, body: (500, {}, '{"error": {"message": "out of\\nmemory"}}'))
    with pytest.raises(KolmoError, match=r"/v1/chat/completions: no answer in 6 tries: 500 out of memory$"):
        answers(Endpoint(served.url, "m", first_wait=0.001), [(1,)])
    assert len(served.bodies) == 6


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((401, {}, '{"error": {"message": "no key"}}'), r"401 no key; set KOLMO_API_KEY$"),
        ((404, {}, "not here"), r"404 not here; is the address right\?"),
        ((400, {}, '{"error": {"message": "unknown model m"}}'), r"400 unknown model m$"),
        ((200, {}, "<html>"), r"not that of an OpenAI-compatible chat endpoint: '<html>'$"),
        ((200, {}, '{"choices": []}'), r"not that of an OpenAI-compatible"),
    ],
)
def test_a_refusal_is_final_and_says_why(serve: Serve, reply: Reply, said: str) -> None:
    served = serve(lambda number, body: reply)
    with pytest.raises(KolmoError, match=said):
        answers(Endpoint(served.url, "m"), [(1,)])
    assert len(served.bodies) == 1


def test_nobody_there() -> None:
    with pytest.raises(KolmoError, match=r"no answer in 6 tries: .*refused"):
        answers(Endpoint("http://127.0.0.1:9/v1", "m", first_wait=0.001), [(1,)])


def test_addresses() -> None:
    whole = "https://host/openai/chat/completions"
    assert Endpoint(whole, "m").address == whole
    assert Endpoint("https://host/v1/", "m").address == "https://host/v1/chat/completions"
    with pytest.raises(UsageError, match=r"--endpoint localhost:8000: not an address"):
        Endpoint("localhost:8000", "m")


def test_the_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KOLMO_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "second")
    assert key_from_environment() == "second"
    monkeypatch.setenv("KOLMO_API_KEY", "sesame")
    assert key_from_environment() == "sesame"
    assert "sesame" not in repr(Endpoint("http://h", "m", key=key_from_environment()))


def test_a_prompted_model_is_evaluated_and_its_answers_are_kept(serve: Serve, tmp_path: Path) -> None:
    """Half of the answers are right; one has run out of tokens; the saved file gives the same report."""
    data, saved = tmp_path / "d.jsonl", str(tmp_path / "saved.jsonl")
    data.write_text("".join(json.dumps({"sequence": [i] * 9, "modality": "m"}) + "\n" for i in range(4)))

    def reply(number: int, body: dict[str, Any]) -> Reply:
        value = asked_for(body)[0]
        if value == 3:
            return says(None, "length")
        return says(f"```python\noutput = [{value}] * {9 if value % 2 == 0 else 8}\n```")

    served = serve(reply)
    programs = Programs("python", 1.0, "embedded")
    wanted = Wanted(data=str(data), tasks=100)
    report = evaluate_endpoint(Endpoint(served.url, "wise"), wanted, programs, samples=2, save=saved)
    assert (report["model"], report["n"], report["accuracy"], report["cut_off"]) == ("wise", 4, 0.5, 2)
    assert report["pass_at_k"] == {"1": 0.5, "2": 0.5}
    assert len(served.bodies) == 8
    again = evaluate_predictions(saved, programs, strict=True)
    shared = set(report) & set(again) - {"model"}
    assert {key: again[key] for key in shared} == {key: report[key] for key in shared}
    with pytest.raises(KolmoError, match="exists already"):
        evaluate_endpoint(Endpoint(served.url, "wise"), wanted, programs, samples=1, save=saved)
    assert len(served.bodies) == 8


def of_the_file(replies: Sequence[dict[str, Any]]) -> Replies:
    """Answers the tasks of `DATA`, each known by a word of its prompt."""
    answers = [
        next(str(reply[key]) for key in ("completion", "solution", "generation") if key in reply) for reply in replies
    ]
    words = [row_words(row) for row in DATA]

    def reply(number: int, body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        return says(next(answer for answer, word in zip(answers, words, strict=True) if word in asked))

    return reply


def row_words(row: dict[str, Any]) -> str:
    found = next((row[key] for key in ("prompt", "text", "question") if key in row), None)
    return str(row["sequence"] if found is None else found).strip()


@pytest.mark.parametrize(("replies", "accuracy"), [(RIGHT, 1.0), (WRONG, 0.0)])
def test_any_task_of_a_file_is_asked_for(
    serve: Serve, tmp_path: Path, replies: list[dict[str, Any]], accuracy: float
) -> None:
    """Code, scripts, questions and sequences; the answers that are kept give the same report."""
    data, saved = write(tmp_path / "d.jsonl", DATA), str(tmp_path / "saved.jsonl")
    served = serve(of_the_file(replies))
    report = evaluate_endpoint(
        Endpoint(served.url, "wise"), Wanted(data=data, tasks=100), EMBEDDED, samples=2, save=saved
    )
    assert (report["n"], report["accuracy"], report["samples"], report["masked"]) == (5, accuracy, 2, 0)
    assert report["pass_at_k"] == {"1": accuracy, "2": accuracy}
    render(report)
    others = write(tmp_path / "others.jsonl", DATA[:-1])
    listed = [line for line in map(json.loads, Path(saved).read_text().splitlines()) if "completion" in line]
    again = evaluate_joined(others, write(tmp_path / "listed.jsonl", listed), EMBEDDED, strict=True)
    assert again["families"] == {name: found for name, found in report["families"].items() if name in again["families"]}
    assert len(again["families"]) == 3


def test_questions_of_a_curriculum_need_no_sandbox(serve: Serve, tmp_path: Path) -> None:
    def reply(number: int, body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        numbers = re.findall(r"\d+", asked)
        right = str(int(numbers[0][::-1])) if "revers" in asked else str(sum(map(int, "".join(numbers))))
        return says(f"Let me think.\n[ANSWER] {right}", "stop" if number > 1 else "length")

    served, saved = serve(reply), tmp_path / "saved.jsonl"
    wanted = Wanted(curriculum="digits", tasks=20)
    nowhere = Programs("python", 1.0, "docker")  # and none is looked for
    report = evaluate_endpoint(Endpoint(served.url, "wise"), wanted, nowhere, samples=1, save=str(saved))
    assert (report["accuracy"], report["cut_off"], report["language"]) == (1.0, 1, "text")
    assert [m["role"] for m in served.bodies[0]["messages"]] == ["system", "user"]
    names = [json.loads(line)["task_id"] for line in saved.read_text().splitlines()]
    assert len(set(names)) == report["n"]
    assert "sum_digits/1/0" in names


def test_what_is_wrong_with_the_tasks_is_said_before_anything_is_asked(serve: Serve, tmp_path: Path) -> None:
    served = serve(of_the_file(RIGHT))
    failing = {**DATA[0], "canonical_solution": "    return x\n"}
    wanted = Wanted(data=write(tmp_path / "d.jsonl", [failing, *DATA[1:]]), tasks=100, strict=True)
    with pytest.raises(UsageError, match=r"HumanEval/0"):
        evaluate_endpoint(Endpoint(served.url, "wise"), wanted, EMBEDDED, samples=1, save=None)
    with pytest.raises(UsageError, match="are for sequences, and not all of these tasks are"):
        evaluate_endpoint(
            Endpoint(served.url, "wise"), Wanted(data=write(tmp_path / "e.jsonl", DATA), tasks=100), EMBEDDED,
            samples=1, save=None, reporting=Reporting(search=0.1),
        )  # fmt: skip
    assert not served.bodies
