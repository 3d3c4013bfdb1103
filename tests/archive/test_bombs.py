"""What small archives that ask for much come to, each in a process of its own: one line, an exit code, and bounded memory."""

import subprocess
import sys

import pytest

from .bombs import BOMBS

pytestmark = pytest.mark.slow
MOST_BYTES = 500 << 20
FINE = {
    "as much as is allowed",
    "a million members",
    "links to links",
    "an index of as many files as there may be",
}
"""Large, and right."""
CODE = """
import sys
from kolmocli.cli.main import main
code = main(sys.argv[1:])
status = open("/proc/self/status").read()
peak = int(status.partition("VmHWM:")[2].split()[0]) << 10
print(code, peak, file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("what", [["-t"], ["-l"], ["-o", "out"]], ids=["test", "list", "unpack"])
@pytest.mark.parametrize("name", BOMBS)
def test_it_ends_with_one_line_and_in_bounds(tmp_path, name, what):
    (tmp_path / "bomb.klm").write_bytes(BOMBS[name]())
    command = [sys.executable, "-c", CODE, "decompress", "-q", "bomb.klm", *what]
    done = subprocess.run(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=300
    )
    *lines, last = done.stderr.splitlines()
    code, peak = map(int, last.split())
    assert peak < MOST_BYTES, f"{peak >> 20} MB"
    assert len(lines) == (code != 0), done.stderr
    assert code in (0, 1)
    if what != ["-l"]:
        assert (code == 0) == (name in FINE)
    if code:
        assert [p.name for p in tmp_path.iterdir()] == ["bomb.klm"]


def test_ten_thousand_damaged_archives():
    done = subprocess.run([sys.executable, "-m", "tests.archive.damaged"], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
