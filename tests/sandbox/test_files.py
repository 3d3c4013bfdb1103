"""Files of a script: those that come with it, and those that it writes, all of them in its own memory."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from kolmocli.errors import UsageError
from kolmocli.sandbox import Job, Limits, Raised, Sandbox, Status, open_sandbox

FILES = (("a.txt", b"1 2\r\n\xc3\xa9\n"), ("data/b.bin", bytes(range(256))), ("empty", b""))
ALIKE = {
    "lines": "print([line for line in open('a.txt', encoding='utf-8')])",
    "newlines": "print(open('a.txt', encoding='utf-8', newline='').read().encode())",
    "bytes": "f = open('data/b.bin', 'rb')\nf.seek(-3, 2)\nprint(f.tell(), f.read(), f.read())\nf.seek(250)\nprint(f.read(2), f.readable(), f.writable())",
    "a name in another spelling": "print(len(open('./data/../data/b.bin', 'rb').read()))",
    "bytes of a name": "print(open(b'empty').read() == '')",
    "write and read": "with open('c', 'w') as f: print(f.write('x\\ny\\n'))\nprint(open('c').readlines())",
    "print": "with open('c', 'w') as f: print(3, 4, sep='-', file=f)\nprint(open('c').read())",
    "append": "for n in range(3):\n    with open('c', 'a') as f: f.write(str(n))\nprint(open('c').read())",
    "append to one that is there": "with open('a.txt', 'ab') as f: print(f.write(b'!'))\nprint(open('a.txt', 'rb').read())",
    "append and read": "open('c', 'w').write('ab')\nf = open('c', 'a+')\nprint(f.tell(), repr(f.read()))\nf.seek(0)\nprint(f.read(1))\nf.write('z')\nf.seek(0)\nprint(f.read())",
    "both ways": "f = open('c', 'w+')\nf.write('abc')\nf.seek(1)\nprint(f.read())\nf.seek(0)\nf.write('x')\nf.seek(0)\nprint(f.read())",
    "change in the middle": "with open('data/b.bin', 'r+b') as f:\n    f.seek(2)\n    f.write(b'zz')\nprint(open('data/b.bin', 'rb').read(6))",
    "truncate": "with open('a.txt', 'r+') as f: print(f.truncate(2))\nprint(open('a.txt').read())",
    "a hole": "with open('c', 'wb') as f:\n    f.seek(4)\n    f.write(b'x')\nprint(open('c', 'rb').read())",
    "unbuffered": "f = open('c', 'wb', 0)\nf.write(b'now')\nprint(open('c', 'rb').read())",
    "line by line": "f = open('c', 'w', 1)\nf.write('now\\n')\nprint(open('c').read())",
    "in place of stdin": "import sys\nsys.stdin = open('a.txt', encoding='utf-8')\nprint(input(), input())",
    "in place of stdout": "import sys\nout, sys.stdout = sys.stdout, open('c', 'w')\nprint(5)\nsys.stdout.close()\nsys.stdout = out\nprint(open('c').read())",
    "json": "import json\nwith open('c', 'w') as f: json.dump({'a': [1]}, f)\nprint(json.load(open('c')))",
    "csv": "import csv\nwith open('c', 'w', newline='') as f: csv.writer(f).writerows([[1, 'a,b'], [2, '']])\nprint(list(csv.reader(open('c', newline=''))))",
    "pathlib": "from pathlib import Path, PurePath\np = Path('c')\nprint(p.write_text('x'), open(p).read(), Path('a.txt').read_bytes(), PurePath('a/b.c', '..', 'd').parts, p / 'e')",
    "io.open": "import io\nprint(io.open('a.txt', encoding='utf-8').read())",
    "paths": "import os.path as p, os\nprint([(f(n)) for n in ('a.txt', 'data', 'none', '.') for f in (p.exists, p.isfile, p.isdir, os.path.lexists)], p.getsize('data/b.bin'))",
    "join": "from os.path import join, exists\nprint(exists(join('data', 'b.bin')))",
    "list": "import os\nprint(sorted(n for n in os.listdir() if n[0] != '_'), os.listdir('data'))",
    "remove": "import os\nos.remove('a.txt')\nprint(os.path.exists('a.txt'))\nos.unlink('empty')\nprint(os.path.exists('empty'))",
    "again": "open('a.txt', 'w')\nprint(open('a.txt').read() == '')",
    "folders": "import os\nos.mkdir('d')\nos.makedirs('d/e/f')\nos.makedirs('d/e', exist_ok=True)\nopen('d/x', 'w').close()\nprint(sorted(os.listdir('d')), os.path.isdir('d/e'), os.listdir('d/e/f'))\nos.rmdir('d/e/f')\nprint(os.path.exists('d/e/f'))",
    "walk": "import os\nfor at, folders, files in sorted(os.walk('.')): print(at, sorted(folders), sorted(set(files) - {'__script.py'}))",
    "scandir": "import os\nwith os.scandir('data') as found: print([(e.name, e.path, e.is_file(), e.is_dir(), e.stat().st_size) for e in found])",
    "rename": "import os\nos.rename('a.txt', 'data/c')\nprint(os.path.exists('a.txt'), sorted(os.listdir('data')))\nos.rename('data', 'e')\nprint(sorted(os.listdir('e')), os.path.exists('data'))\nopen('n', 'w').write('n')\nos.replace('n', 'e/c')\nprint(open('e/c').read())",
    "stat": "import os, stat, time\ns = os.stat('a.txt')\nprint(s.st_size, stat.S_ISREG(s.st_mode), stat.S_ISDIR(os.stat('data').st_mode), abs(os.path.getmtime('a.txt') - time.time()) < 1e4)\nos.utime('a.txt', (5, 6))\nprint(os.stat('a.txt').st_mtime, os.access('a.txt', os.R_OK), os.access('none', os.R_OK), os.path.islink('a.txt'))",
    "another folder": "import os\nhome = os.getcwd()\nos.chdir('data')\nprint(os.listdir(), os.path.relpath(os.getcwd(), home), open('../a.txt', 'rb').read(2))\nos.chdir(home)\nprint(os.path.isfile(os.path.join(home, 'a.txt')), os.path.relpath(os.path.realpath('data/../a.txt'), home), os.path.abspath('x') == os.path.join(home, 'x'))",
    "descriptors": "import os\nn = os.open('c', os.O_RDWR | os.O_CREAT, 0o600)\nprint(os.write(n, b'abc'), os.lseek(n, 1, 0), os.read(n, 9), os.fstat(n).st_size)\nos.close(n)\nwith os.fdopen(os.open('c', os.O_WRONLY | os.O_APPEND), 'w') as f: f.write('d')\nprint(open('c').read(), open('c', opener=lambda p, f: os.open(p, f)).read())\nos.truncate('c', 2)\nprint(os.path.getsize('c'))",
    "shutil": "import os, shutil\nprint(shutil.copy('a.txt', 'c'), shutil.copytree('data', 'e'), shutil.move('c', 'e'), sorted(os.listdir('e')))\nshutil.rmtree('e')\nprint(os.path.exists('e'), shutil.copyfile('a.txt', 'c'), shutil.copy2('c', 'f'), os.path.getsize('f'))\nshutil.rmtree('none', ignore_errors=True)",
    "glob": "import glob\nprint(sorted(glob.glob('*.txt')), glob.glob('**/*.bin', recursive=True), glob.glob('none/*'))",
    "paths of folders": "from pathlib import Path\np = Path('d') / 'e'\np.mkdir(parents=True)\np.mkdir(exist_ok=True)\n(p / 'x').touch()\n(p / 'y.txt').write_text('y')\nprint(sorted(str(e) for e in p.iterdir()), [str(e) for e in Path('.').glob('d/*/*.txt')], sorted(map(str, Path('d').rglob('*'))))\nprint(p.is_dir(), (p / 'x').stat().st_size, Path('data/../a.txt').resolve().name, Path('a.txt').exists(), Path('none').exists())\n(p / 'x').unlink()\n(p / 'x').unlink(missing_ok=True)\n(p / 'y.txt').rename('z')\np.rmdir()\nprint(Path('z').read_text(), (Path.cwd() / 'z').is_file())",
    "tempfile": "import os, tempfile\nwith tempfile.NamedTemporaryFile('w+', suffix='.x') as f:\n    f.write('abc')\n    f.seek(0)\n    print(f.read(), open(f.name).read(), f.name.endswith('.x'), os.path.exists(f.name))\nprint(os.path.exists(f.name))\nwith tempfile.TemporaryDirectory() as d:\n    open(os.path.join(d, 'x'), 'w').write('1')\n    print(os.listdir(d))\nprint(os.path.exists(d))\nn, path = tempfile.mkstemp(text=True)\nos.write(n, b'2')\nos.close(n)\nprint(open(path).read(), os.path.isdir(tempfile.mkdtemp()))\nos.unlink(path)\nwith tempfile.TemporaryFile() as f: print(f.write(b'3'), f.seek(0), f.read())",
    "a file that is kept": "import os, tempfile\nf = tempfile.NamedTemporaryFile(mode='w', delete=False)\nf.write('k')\nf.close()\nprint(open(f.name).read())\nos.remove(f.name)\nprint(os.path.exists(f.name))",
    "archives": "import gzip, shutil, zipfile\nwith zipfile.ZipFile('c.zip', 'w') as z: z.write('a.txt'); z.writestr('n', 'new')\nprint(zipfile.ZipFile('c.zip').namelist(), zipfile.is_zipfile('c.zip'))\nzipfile.ZipFile('c.zip').extractall('e')\nprint(open('e/n').read())\nwith gzip.open('c.gz', 'wt') as f: f.write('g')\nprint(gzip.open('c.gz', 'rt').read())",
    "a database": "import os, sqlite3\nc = sqlite3.connect('c.db')\nc.execute('create table t (n)')\nc.execute('insert into t values (1)')\nc.commit()\nc.close()\nc = sqlite3.connect('c.db')\nprint(c.execute('select * from t').fetchall(), os.path.exists('c.db'))\nc.close()\nos.remove('c.db')\nprint(sqlite3.connect('c.db').execute('select count(*) from sqlite_master').fetchone(), sqlite3.connect(':memory:').execute('select 1').fetchone())",
    "other readers": "import configparser, xml.etree.ElementTree as E, linecache\nopen('c.ini', 'w').write('[a]\\nb = 1\\n')\np = configparser.ConfigParser()\nprint(p.read(['c.ini', 'none']), p['a']['b'])\nE.ElementTree(E.fromstring('<r><s/></r>')).write('c.xml')\nprint([e.tag for e in E.parse('c.xml').getroot()], linecache.getline('c.ini', 2))",
    "encodings": "for e in ('latin-1', 'utf-8-sig', 'utf-16', 'cp1252'):\n    with open('c', 'w', encoding=e) as f: f.write('\\xe9')\n    print(open('c', 'rb').read(), open('c', encoding=e).read())",
}
"""Print the same here as in a folder with these files."""
FAIL = {
    "open('none')": FileNotFoundError,
    "open('none', 'r+')": FileNotFoundError,
    "open('folder/none', 'w')": FileNotFoundError,
    "open('data')": IsADirectoryError,
    "open('data', 'w')": IsADirectoryError,
    "open('.')": IsADirectoryError,
    "open('a.txt', 'x')": FileExistsError,
    "open('a.txt', 'rw')": ValueError,
    "open('a.txt', 'q')": ValueError,
    "open('a.txt', 'rbt')": ValueError,
    "open('a.txt', 'r', 0)": ValueError,
    "open('a.txt').write('x')": "UnsupportedOperation",
    "open('c', 'w').read()": "UnsupportedOperation",
    "open('a.txt', encoding='ascii').read()": UnicodeDecodeError,
    "open('a.txt', 'rb').seek(-1)": OSError,
    "open([])": TypeError,
    "import os; os.remove('none')": FileNotFoundError,
    "import os; os.path.getsize('none')": FileNotFoundError,
    "import os; os.listdir('none')": FileNotFoundError,
    "import os; os.listdir('a.txt')": NotADirectoryError,
    "import os; os.mkdir('data')": FileExistsError,
    "import os; os.mkdir('none/x')": FileNotFoundError,
    "import os; os.rmdir('data')": OSError,
    "import os; os.rmdir('none')": FileNotFoundError,
    "import os; os.remove('data')": IsADirectoryError,
    "import os; os.rename('none', 'x')": FileNotFoundError,
    "import os; os.rename('a.txt', 'none/x')": FileNotFoundError,
    "import os; os.rename('a.txt', 'data')": IsADirectoryError,
    "import os; os.chdir('none')": FileNotFoundError,
    "import os; os.stat('none')": FileNotFoundError,
    "import os; os.close(os.open('none', os.O_RDONLY))": FileNotFoundError,
    "import os; os.open('a.txt', os.O_WRONLY | os.O_CREAT | os.O_EXCL)": FileExistsError,
    "import os; os.read(4711, 1)": OSError,
    "import os; os.close(3); open(3)": OSError,
    "open('a.txt/x', 'w')": NotADirectoryError,
    "from pathlib import Path; Path('none').read_text()": FileNotFoundError,
    "from pathlib import Path; Path('none').unlink()": FileNotFoundError,
    "from pathlib import Path; Path('data').mkdir()": FileExistsError,
    "import shutil; shutil.rmtree('none')": FileNotFoundError,
    "import shutil; shutil.copy('a.txt', 'a.txt')": "SameFileError",
    "open('/nowhere/none')": FileNotFoundError,
    "open('/tmp/none')": FileNotFoundError,
    "open('', 'w')": FileNotFoundError,
    "import os; os.chmod('a.txt', 0o400); assert not os.access('a.txt', os.W_OK); open('a.txt', 'a')": PermissionError,
}
OUTSIDE = [
    "/etc/passwd",
    "/kolmo/supervisor.py",
    "/",
    "..",
    "/proc/self/mem",
    "../etc/passwd",
    "//etc/passwd",
    "/tmp/../etc/passwd",
]


def here(program: str, folder: Path) -> str:
    """What this Python prints in a folder with the files."""
    for name, data in FILES:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    script = folder / "__script.py"
    script.write_text(program, "utf-8")
    command = [sys.executable, "-X", "utf8", "-W", "ignore", script.name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.docker
@pytest.mark.parametrize("name", ALIKE)
def test_it_is_as_in_a_folder(docker_sandbox: Sandbox, name: str, tmp_path: Path) -> None:
    verdict = docker_sandbox.run(Job(ALIKE[name], inputs=("", "again"), files=FILES))[0]
    printed = here(ALIKE[name], tmp_path)
    assert (verdict.status, verdict.trace) == (Status.OK, (printed, printed)), verdict.detail


@pytest.mark.docker
def test_what_fails_fails_alike(docker_sandbox: Sandbox) -> None:
    verdicts = docker_sandbox.run([Job(program, inputs=("",), files=FILES) for program in FAIL])
    names = [error if isinstance(error, str) else error.__name__ for error in FAIL.values()]
    assert [verdict.trace for verdict in verdicts] == [(Raised(name),) for name in names]


@pytest.mark.docker
def test_there_is_nothing_beyond_them(docker_sandbox: Sandbox) -> None:
    tries = itertools.product(
        OUTSIDE, ["open({!r})", "open({!r}, 'w')", "import os; os.remove({!r})", "import os; os.listdir({!r})",
                  "import os; os.open({!r}, os.O_RDONLY)", "import os; os.mkdir({!r})", "import shutil; shutil.copyfile({!r}, 'c')"]
    )  # fmt: skip
    verdicts = docker_sandbox.run([Job(way.format(path), inputs=("",), files=FILES) for path, way in tries])
    assert {verdict.trace for verdict in verdicts} == {(Raised("PermissionError"),)}
    asked = f"import os\nprint([os.path.exists(p) for p in {OUTSIDE}])"
    assert docker_sandbox.run(Job(asked, inputs=("",)))[0].trace == (f"{[False] * len(OUTSIDE)}\n",)


@pytest.mark.docker
def test_a_script_finds_none_that_it_was_not_given(docker_sandbox: Sandbox) -> None:
    writes = Job("open('left', 'w').write('x')\nimport os\nprint(os.listdir())", inputs=("", ""))
    reads = Job("import os\nprint(os.listdir())", inputs=("",))
    verdicts = docker_sandbox.run([writes, reads] * 8)
    assert {verdict.trace for verdict in verdicts} == {("['left']\n",) * 2, ("[]\n",)}
    modules = docker_sandbox.run(
        [Job("open('a.txt')"), Job("import io\nio.open('a.txt')"), Job("import os\nos.listdir()")]
    )
    assert [verdict.status for verdict in modules] == [Status.RUNTIME, Status.DENIED, Status.DENIED]


@pytest.mark.docker
def test_what_is_written_is_memory_of_the_script() -> None:
    limits = Limits(memory_mb=64, cpu_ms=3_000, wall_ms=9_000)
    with open_sandbox("docker", workers=1, limits=limits) as sandbox:
        ways = ["while True: f.write(bytes(1 << 20))", "f.seek(1 << 40)\nf.write(b'x')", "f.truncate(1 << 40)"]
        verdicts = sandbox.run([Job(f"f = open('c', 'wb', 0)\n{way}", inputs=("",)) for way in ways])
    assert [verdict.status for verdict in verdicts] == [Status.MLE] * 3


@pytest.mark.docker
def test_large_files_come_whole() -> None:
    data = bytes(range(256)) * (1 << 16)
    limits = Limits(memory_mb=128, cpu_ms=5_000, wall_ms=15_000, input_bytes=24 << 20)
    program = "d = open('large', 'rb').read()\nprint(len(d), d == bytes(range(256)) * (1 << 16), input())"
    with open_sandbox("docker", workers=1, limits=limits) as sandbox:
        verdict = sandbox.run(Job(program, inputs=("a", "b"), files=(("large", data),)))[0]
    assert verdict.trace == (f"{len(data)} True a\n", f"{len(data)} True b\n")


def test_the_embedded_sandbox_has_none() -> None:
    with open_sandbox("embedded", workers=1) as sandbox:
        verdict = sandbox.run(Job("print(1)", inputs=("",), files=FILES))[0]
    assert (verdict.status, verdict.detail) == (Status.DENIED, "the embedded sandbox has no files")


@pytest.mark.parametrize("name", ["", "/a", "a//b", "./a", "..", "a/../b", "a\n", "\0", "a/"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(UsageError, match="names are relative"):
        Job("", inputs=("",), files=((name, b""),))


def test_what_can_have_no_files() -> None:
    with pytest.raises(UsageError, match="each is there once"):
        Job("", inputs=("",), files=(("a", b""), ("a", b"")))
    with pytest.raises(UsageError, match=r"inputs=\(''"):
        Job("", files=FILES)
    with pytest.raises(UsageError, match="scripts in Python"):
        Job("", "cpp", inputs=("",), files=FILES)
