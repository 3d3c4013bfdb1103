"""Mocks with parts: attributes, what methods return and raise, and contexts (`mock_parts.py`)."""

from __future__ import annotations

import pytest

from kolmocli.sandbox import Sandbox
from kolmocli.tasks.code.shapes import human_eval
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.tasks.code.edited import Case, require_judged

CLIENT = """
import json
import urllib.error
import urllib.request
import requests

class Client:
    def __init__(self, http, log=None):
        self.http, self.log = http, log

    def user(self, name):
        answer = self.http.get(f"/users/{name}", timeout=5)
        if answer.status_code == 404:
            return None
        answer.raise_for_status()
        if self.log:
            self.log.info("read %s", name)
        return answer.json()["id"]

    def save(self, path, text):
        with self.http.open(path) as stream:
            stream.write(text)
            return stream.tell()

    def all(self):
        found = []
        for page in self.http.pages():
            found += page.items
        return found

    def close(self):
        self.http.close()


def title(url):
    answer = requests.get(url)
    return answer.json()["title"].upper() if answer.ok else ""


def read(url):
    with urllib.request.urlopen(url) as stream:
        return json.loads(stream.read().decode())


def tried(url):
    try:
        return title(url) if url.startswith("http") else read(url)
    except (requests.exceptions.RequestException, urllib.error.HTTPError) as error:
        return str(error)
    except urllib.error.URLError as error:
        return error.reason


def retry(connect, times):
    for attempt in range(times):
        try:
            return connect().recv(10)
        except ConnectionError:
            pass
    return None
"""
HEAD = """import pytest
import unittest
from unittest.mock import AsyncMock, Mock, MagicMock, patch, call
from solution import Client, title, read, retry, tried
"""
CASES = [
    Case("attributes", CLIENT, ("timeout=5", "timeout=6"), """
def test_it():
    http = Mock()
    http.get.return_value.status_code = 200
    http.get.return_value.json.return_value = {"id": 7, "name": "a"}
    assert Client(http).user("ann") == 7
    http.get.assert_called_once_with("/users/ann", timeout=5)
    http.get.return_value.raise_for_status.assert_called_once()
    http.get.return_value.json.assert_called_once_with()
"""),
    Case("of keywords", CLIENT, ("== 404", "== 500"), """
def test_it():
    answer = Mock(status_code=404)
    http = Mock()
    http.get.return_value = answer
    assert Client(http).user("bob") is None
    assert http.get.call_count == 1
    answer.raise_for_status.assert_not_called()
"""),
    Case("nested", CLIENT, ('"read %s", name', '"read", name'), """
def test_it():
    http = MagicMock()
    http.get.return_value = MagicMock(status_code=200, json=lambda: {"id": 3, "name": 4})
    log = MagicMock()
    assert Client(http, log).user("eve") == 3
    log.info.assert_called_once_with("read %s", "eve")
"""),
    Case("raising", CLIENT, ("answer.raise_for_status()", "pass"), """
def test_it():
    http = Mock()
    http.get.return_value.status_code = 500
    http.get.return_value.raise_for_status.side_effect = ValueError("bad")
    with pytest.raises(ValueError, match="bad"):
        Client(http).user("eve")
    assert not http.get.return_value.json.called
"""),
    Case("context", CLIENT, ("stream.write(text)", "stream.write(text + text)"), """
def test_it():
    http = MagicMock()
    stream = http.open.return_value.__enter__.return_value
    stream.tell.return_value = 12
    assert Client(http).save("/tmp/x", "ab") == 12
    http.open.assert_called_with("/tmp/x")
    stream.write.assert_called_once_with("ab")
"""),
    Case("effects", CLIENT, ("found += page.items", "found = page.items"), """
def test_it():
    http = Mock()
    http.pages.return_value = [Mock(items=[1, 2]), Mock(items=[3])]
    assert Client(http).all() == [1, 2, 3]
    Client(http).close()
    http.close.assert_called_once_with()
"""),
    Case("patched", CLIENT, (".upper()", ""), """
@patch("requests.get")
def test_it(get):
    get.return_value.json.return_value = {"title": "abc"}
    get.return_value.ok = True
    assert title("http://x") == "ABC"
    get.assert_called_once_with("http://x")
    get.return_value.ok = False
    assert title("http://y") == ""
    assert get.call_args_list == [call("http://x"), call("http://y")]
"""),
    Case("patched with a response", CLIENT, ("if answer.ok", "if not answer.ok"), """
class TestIt(unittest.TestCase):
    @patch("requests.get")
    def test_a(self, mock_get):
        mock_response = Mock()
        mock_response.json.return_value = {"title": "q"}
        mock_response.ok = True
        mock_get.return_value = mock_response
        self.assertEqual(title("u"), "Q")
    def test_b(self):
        with patch("requests.get") as get:
            get.side_effect = [Mock(ok=False), Mock(ok=True, json=lambda: {"title": "z"})]
            self.assertEqual(title("u"), "")
            self.assertEqual(title("u"), "Z")
"""),
    Case("urlopen", CLIENT, ('urlopen(url)', 'urlopen(url, None)'), """
@patch("urllib.request.urlopen")
def test_it(mock_urlopen):
    mock_urlopen.return_value.__enter__.return_value.read.return_value = b'{"A": 1}'
    assert read("http://x") == {"A": 1}
def test_other():
    response = MagicMock()
    response.read.return_value = b"[1]"
    response.__enter__.return_value = response
    with patch("urllib.request.urlopen", return_value=response) as opened:
        assert read("u") == [1]
    opened.assert_called_once_with("u")
"""),
    Case("retry", CLIENT, ("recv(10)", "recv(9)"), """
def test_it():
    good = Mock()
    good.recv.return_value = b"x"
    connect = Mock(side_effect=[ConnectionError(), good])
    assert retry(connect, 2) == b"x"
    assert connect.call_count == 2
    good.recv.assert_called_once_with(10)
def test_never():
    connect = Mock()
    connect.return_value.recv.side_effect = ConnectionError("no")
    assert retry(connect, 3) is None
    assert connect.return_value.recv.call_count == 3
    assert connect.return_value.recv.call_args_list == [call(10)] * 3
def test_each():
    connect = Mock()
    connect.return_value.recv.side_effect = [ConnectionError, b"ok"]
    assert retry(connect, 5) == b"ok"
"""),
    Case("setup", CLIENT, ('["id"]', '["name"]'), """
class TestIt(unittest.TestCase):
    def setUp(self):
        self.http = MagicMock()
        self.http.get.return_value.status_code = 200
        self.client = Client(self.http)
    def test_a(self):
        self.http.get.return_value.json.return_value = {"id": 1, "name": 2}
        self.assertEqual(self.client.user("x"), 1)
        self.http.get.assert_called_once_with("/users/x", timeout=5)
    def test_b(self):
        self.client.close()
        self.http.close.assert_called_once()
        self.assertEqual(self.http.get.call_count, 0)
"""),
    Case("errors of modules that are not there", CLIENT, ("as error:", "as error: raise"), """
import urllib.error
import requests
@patch("requests.get")
def test_a(get):
    get.return_value.json.side_effect = requests.exceptions.HTTPError("404")
    get.return_value.ok = True
    assert tried("http://x") == "404"
    get.side_effect = requests.ConnectionError("no route")
    assert tried("http://x") == "no route"
@patch("urllib.request.urlopen")
def test_b(urlopen):
    urlopen.side_effect = urllib.error.HTTPError("http://x", 404, "Not Found", {}, None)
    assert tried("file://x") == "HTTP Error 404: Not Found"
    urlopen.side_effect = urllib.error.URLError("gone")
    assert tried("file://x") == "gone"
"""),
    Case("what is read under a name", CLIENT, ("timeout=5", "timeout=6"), """
def test_it():
    http = Mock()
    answer = http.get.return_value
    answer.status_code = 200
    answer.json.return_value = {"id": 7, "name": "a"}
    fails = answer.raise_for_status
    assert Client(http).user("ann") == 7
    given, named = http.get.call_args
    assert given == ("/users/ann",) and named == {"timeout": 5}
    count, last = http.get.call_count, http.get.call_args
    assert count == 1 and last.kwargs["timeout"] == 5
    many = http.get.call_args_list
    assert len(many) == 1 and many[0].args == ("/users/ann",)
    fails.assert_called_once_with()
def test_of_its_own():
    http = Mock()
    http.get("/x", timeout=5)
    found = http.get("/y")
    assert http.get.call_count == 2
    http.get.assert_called_with("/y")
    http.reset_mock()
    http.get.assert_not_called()
"""),
    Case("fixture", CLIENT, ("self.http.close()", "pass"), """
@pytest.fixture
def http():
    return Mock()
def test_a(http):
    http.get.return_value.status_code = 404
    assert Client(http).user("x") is None
def test_b(http):
    Client(http).close()
    assert http.close.called
    http.reset_mock()
    assert not http.close.called
"""),
]  # fmt: skip


def task_of(tests: str) -> CodeTask:
    return human_eval({"prompt": "Write it.", "test": HEAD + tests, "canonical_solution": CLIENT})


@pytest.mark.docker
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_is_judged_by_mocks_with_parts(docker_box: Sandbox, case: Case) -> None:
    require_judged(task_of(case.tests), case, docker_box)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("m = Mock()\n    m.get.return_value = 1\n    Client(m)\n    assert m.mock_calls == []", "mock_calls"),
        ("m = Mock(spec=Client, ok=True)\n    assert Client(m)", "spec=Client"),
        ("m = Mock(**{'get.return_value': 3})\n    assert Client(m)", "get.return_value"),
        ("m = Mock(ok=1)\n    m.configure_mock(ok=2)\n    assert Client(m)", "configure_mock"),
        ("m = AsyncMock(ok=1)\n    assert Client(m)", "AsyncMock(ok=1)"),
        ("m = Mock(1)\n    assert Client(m)", "Mock(1)"),
    ],
)
def test_what_is_more_than_that_is_named(line: str, words: str) -> None:
    with pytest.raises(ValueError, match="more of a mock than is read") as raised:
        task_of(f"def test_it():\n    {line}\n")
    assert words in str(raised.value)


@pytest.mark.docker
@pytest.mark.parametrize(
    "lines",
    [
        "def seen(m):\n    m.assert_called_with(1)\ndef test_it():\n    m = Mock()\n    Client(m).close()\n    seen(m.close)\n    assert m.close.called",
        "def test_it():\n    m = Mock()\n    Client(m).close()\n    for each in [m.close]:\n        assert each.called",
        "def test_it():\n    m = Mock()\n    Client(m).close()\n    m.close.assert_called_onec()\n    assert m.close.called",
    ],
)
def test_an_assert_that_is_not_read_does_not_hold(docker_box: Sandbox, lines: str) -> None:
    """A mock has every attribute, and so every assert."""
    [outcome] = judge([task_of(lines)], [CLIENT], docker_box, Terms(Relative(0.25)))
    assert not outcome.passed


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        ("import requests\ndef test_it():\n    assert title(requests.get('u').url)", "requests.get"),
        ("from requests import Session as S\ndef test_it():\n    assert title(S())", "requests.Session"),
    ],
)
def test_what_would_need_a_network_is_named(lines: str, path: str) -> None:
    with pytest.raises(ValueError, match=f"the tests use `{path}`, which is not there; patch it"):
        task_of(f"{lines}\n")
