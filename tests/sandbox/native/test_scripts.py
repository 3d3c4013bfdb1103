"""Scripts in C++ and JavaScript: what they read and print, and where jobs for them go."""

from __future__ import annotations

import pytest

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.sandbox import Call, Job, Limits, Raised, Sandbox, Status, open_sandbox
from kolmocli.sandbox.base import Language
from kolmocli.sandbox.docker.image import build_native
from kolmocli.sandbox.pool.routed import Routed

ADD = {
    "cpp": "#include <bits/stdc++.h>\nusing namespace std;\nint main() { long long a, b; cin >> a >> b; cout << a + b << endl; }",
    "javascript": "const [a, b] = require('fs').readFileSync('/dev/stdin', 'utf8').split(/\\s+/).map(BigInt);\nconsole.log(`${a + b}`);",
}
WAYS = {
    "lines": "const lines = [];\nrequire('readline').createInterface({ input: process.stdin }).on('line', (line) => lines.push(line)).on('close', () => console.log(lines.length));",
    "events": "let all = '';\nprocess.stdin.on('data', (more) => { all += more; }).on('end', () => console.log(all.trim().split('\\n').length));",
    "module": "import { readFileSync } from 'fs';\nexport const text = readFileSync(0, 'utf8');\nconsole.log(text.trim().split('\\n').length);",
    "module that waits": "const all = await new Promise((done) => { let s = ''; process.stdin.on('data', (d) => { s += d; }).on('end', () => done(s)); });\nconsole.log(all.trim().split('\\n').length);",
    "await": "(async () => { let n = 0; for await (const line of require('readline').createInterface({ input: process.stdin })) n += 1; process.stdout.write(n + '\\n'); })();",
}
ONCE = {
    "cpp": '#include <stdio.h>\n#include <fcntl.h>\nint n;\nint main() { int left = open("/scratch/left", O_CREAT | O_RDWR, 0600); int m = 0; scanf("%d", &m); printf("%d %d\\n", left, n += m); }',
    "javascript": "const fs = require('fs');\nglobalThis.n = (globalThis.n ?? 0) + Number(fs.readFileSync(0));\ntry { fs.appendFileSync('/scratch/left', 'x'); } catch { console.log(-1, n); }",
}
SUMS = ("1 2\n", "-5 5\n", "9007199254740993 1\n")


@pytest.mark.native
def test_a_batch_in_three_languages_comes_back_in_order(native_sandbox: Sandbox) -> None:
    python = "a, b = map(int, input().split())\nprint(a + b)"
    jobs = [Job(python, inputs=SUMS), Job("output = 3")]
    for language, program in ADD.items():
        jobs += [Job(program, _language(language), inputs=SUMS), Job(python, inputs=SUMS)]
    verdicts = native_sandbox.run(jobs)
    assert [v.status for v in verdicts] == [Status.OK] * 6, verdicts
    assert verdicts[1].value == (3,)
    assert {v.trace for i, v in enumerate(verdicts) if i != 1} == {("3\n", "0\n", "9007199254740994\n")}
    assert len({v.container for v in verdicts}) == 2


@pytest.mark.native
@pytest.mark.parametrize("way", WAYS)
def test_ways_to_read(native_sandbox: Sandbox, way: str) -> None:
    text = "".join(f"{i}\n" for i in range(20_000))
    verdict = native_sandbox.run(Job(WAYS[way], "javascript", inputs=(text, "1\n")))[0]
    assert (verdict.status, verdict.trace) == (Status.OK, ("20000\n", "1\n")), verdict.detail


@pytest.mark.native
def test_what_does_not_compile_as_a_module_either_says_so(native_sandbox: Sandbox) -> None:
    [verdict] = native_sandbox.run(Job("import fs from 'fs';\nlet a = ;", "javascript", inputs=("",)))
    assert (verdict.status, verdict.detail) == (Status.SYNTAX, "SyntaxError: Unexpected token ';' (line 2)")


@pytest.mark.native
def test_the_standard_of_2020_is_there(native_sandbox: Sandbox) -> None:
    program = "#include <algorithm>\n#include <iostream>\n#include <ranges>\n#include <vector>\nint main() { std::vector<int> v{3, 1}; std::ranges::sort(v); for (int x : v | std::views::take(1)) std::cout << x; }"
    [verdict] = native_sandbox.run(Job(program, "cpp", inputs=("",)))
    assert verdict.trace == ("1",)


@pytest.mark.native
@pytest.mark.parametrize("language", ONCE)
def test_no_input_sees_what_another_left(native_sandbox: Sandbox, language: str) -> None:
    verdict = native_sandbox.run(Job(ONCE[language], _language(language), inputs=("1", "2", "1")))[0]
    assert verdict.trace == ("-1 1\n", "-1 2\n", "-1 1\n")


@pytest.mark.native
def test_an_exception_ends_one_input_and_a_limit_all(native_sandbox: Sandbox) -> None:
    program = '#include <stdio.h>\nint main() { int n; scanf("%d", &n); while (n == 2) n += n - 2; if (!n) return 7; printf("%d\\n", n); }'
    one, two = native_sandbox.run(
        [Job(program, "cpp", inputs=("1", "0", "3")), Job(program, "cpp", inputs=("1", "2", "3"), cpu_ms=200)]
    )
    assert (one.status, one.trace) == (Status.OK, ("1\n", Raised("exit status 7"), "3\n"))
    assert (two.status, two.trace) == (Status.TLE_CPU, ("1\n",))


@pytest.mark.native
def test_a_batch_for_both_kinds_of_container_can_be_withdrawn(native_sandbox: Sandbox) -> None:
    assert isinstance(native_sandbox, Routed)
    sleeper = Job("#include <unistd.h>\nint main() { for (;;) pause(); }", "cpp", inputs=("",))
    future = native_sandbox.submit([Job("output = 1"), *[sleeper] * 8])
    assert native_sandbox.unsettled >= 8
    native_sandbox.withdraw(future)
    statuses = [verdict.status for verdict in future.result(60)]
    assert statuses[0] in (Status.OK, Status.CANCELLED) and statuses[-1] is Status.CANCELLED
    assert set(statuses[1:]) <= {Status.TLE_WALL, Status.CANCELLED}


@pytest.mark.native
def test_large_inputs_and_outputs_stream() -> None:
    """Through a program with less memory than its input has bytes; and the flush of each line costs no tick."""
    echo = "#include <stdio.h>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }"
    flushing = (
        '#include <stdio.h>\nint main() { for (int i = 0; i < 20000; ++i) { printf("%d\\n", i); fflush(stdout); } }'
    )
    text = "".join(f"{i:07d}\n" for i in range(3_000_000))
    limits = Limits(5_000, 20_000, 64, input_bytes=32 << 20, output_bytes=32 << 20)
    with open_sandbox("docker", limits=limits, workers=1, packages=["cpp"]) as sandbox:
        long, short = sandbox.run([Job(echo, "cpp", inputs=(text,), memory_mb=16), Job(flushing, "cpp", inputs=("",))])
        with pytest.raises(
            UsageError, match=r"this sandbox has no node; build it with kolmo sandbox build --with node"
        ):
            sandbox.run(Job("1", "javascript", inputs=("",)))
    assert (long.status, long.detail) == (Status.OK, "")
    assert long.trace == (text,)
    assert short.trace == ("".join(f"{i}\n" for i in range(20_000)),)


@pytest.mark.native
def test_every_promise_of_these_containers_is_kept(native_sandbox: Sandbox) -> None:
    promises = native_sandbox.check()
    assert len({p["promise"] for p in promises}) == len(promises)
    found = {p["promise"]: p for p in promises}
    assert all(p["ok"] for p in promises)
    for name in ("cpp program cannot: fork", "javascript program cannot: socket", "a cpp program runs", "Landlock"):
        assert f"cpp and node: {name}" in found


@pytest.mark.native
def test_a_base_without_a_compiler_is_named() -> None:
    with pytest.raises(
        EnvironmentMissing, match=r"has no python3 with /usr/bin/g\+\+; make one with: sandbox_image/base"
    ):
        build_native(("cpp",), base="kolmo-base:bookworm")


def test_what_such_a_job_cannot_have() -> None:
    for wrong in ({}, {"inputs": ("",), "plain": True}, {"calls": (Call.of("f"),)}):
        with pytest.raises(UsageError, match="a job in cpp is a script with inputs and without calls"):
            Job("int main() {}", "cpp", **wrong)  # type: ignore[arg-type]


def test_the_embedded_sandbox_refuses(embedded_sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match=r"this sandbox has no cpp; build it with kolmo sandbox build --with cpp"):
        embedded_sandbox.run(Job("int main() {}", "cpp", inputs=("",)))
    with pytest.raises(UsageError, match="the embedded sandbox has no node"):
        open_sandbox("embedded", packages=["node"])


def _language(name: str) -> Language:
    return "cpp" if name == "cpp" else "javascript"
