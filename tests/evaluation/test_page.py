"""docs/kolmogorov-test.md followed to the letter, on files of the benchmark's layouts that are made here."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.conftest import KOLMO, command_environment

PAGE = Path(__file__).parents[2] / "docs" / "kolmogorov-test.md"
BLOCKS = re.findall(r"^```\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)

pytestmark = [pytest.mark.slow, pytest.mark.docker]


class Writer(BaseHTTPRequestHandler):
    """A model that copies every sequence, and says so first."""

    def do_POST(self) -> None:
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        sequence = re.search(r"\[[-\d, ]+\]", prompt)
        assert sequence is not None
        answer = f"I see no pattern.\n```python\noutput = {sequence[0]}\n```"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": [{"message": {"content": answer}}]}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing: the output of a test is its own."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Writer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def follow(block: str, folder: Path, environment: dict[str, str]) -> str:
    """Run the commands of one block in a shell; what they print."""
    path = f"{KOLMO.parent}:{os.environ['PATH']}"
    environment = {**command_environment(environment), "PATH": path}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def predictions(test_file: Path) -> Iterator[str]:
    """Answers to the synthetic part, encoded twice: right ones, and one in four that forgets the last statement."""
    for number, line in enumerate(test_file.read_text().splitlines()):
        pair = json.loads(line)
        statements = pair["program"].split("\n")
        kept = statements[:-1] if number % 4 == 0 and len(statements) > 1 else statements
        numbered = [f"{text} # [1, 2]" for text in kept] + [f"output = sequence_{len(kept)} # [1, 2]"]
        prompt = f"### Input Sequence:\n{pair['sequence']}\n### Expected Output:\n"
        yield json.dumps(json.dumps({"prompt": prompt, "generation": "\n".join(numbered) + "\n###"}))


def test_the_page_is_followed(tmp_path: Path, endpoint: str) -> None:
    rng = random.Random(1)
    words = ["the ", "cat ", "sat ", "on ", "a ", "mat. "]
    (tmp_path / "text.bin").write_bytes("".join(rng.choices(words, k=1300)).encode())
    (tmp_path / "dna.bin").write_bytes(bytes(rng.choices(range(8), k=3000)))
    said = {"WARMUP": "10", "STEPS": "2", "ENDPOINT": endpoint, "MODEL": "writer"}
    assert re.findall(r"\b(\w+)=", BLOCKS[0]) == list(said)
    cut, pairs, trained, prompted, scored, synthetic = BLOCKS[1:]

    assert "sequences" in follow(cut, tmp_path, said)
    follow(pairs, tmp_path, said)
    assert "published formulas" in follow(trained, tmp_path, said)
    assert "accuracy  100.0 %" in follow(prompted, tmp_path, said)
    assert re.search(r"copies +100\.0 %", follow(scored, tmp_path, said))
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["accuracy"], report["copy_rate"]) == (1.0, 1.0)
    assert report["published"]["natural"]["precision"] > 1
    (tmp_path / "synthetic-predictions.jsonl").write_text("\n".join(predictions(tmp_path / "synthetic-test.jsonl")))
    table = follow(synthetic, tmp_path, said)
    found = re.search(r"accuracy +([\d.]+) %", table)
    assert found is not None and 70 <= float(found[1]) <= 85
