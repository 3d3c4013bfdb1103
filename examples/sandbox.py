"""Run programs of strangers: each gets a verdict, whatever it does.

python examples/sandbox.py            (in containers, where a Docker engine answers)
"""

import kolmocli as kolmo

PROGRAMS = {
    "honest": "output = [1, 2] * 3",
    "wrong": "output = 1 / 0",
    "endless": kolmo.Job("while True: pass", cpu_ms=200),
    "greedy": kolmo.Job("output = len([0] * 10**7)", memory_mb=32),
    "curious": "import os\noutput = os.listdir('/')",
    "a thief": "output = open('/etc/passwd').read()",
    "a talker": "print('x' * 10**6)\noutput = 7",
}


def main() -> None:
    with kolmo.open_sandbox("auto", workers=2) as sandbox:
        verdicts = sandbox.run(list(PROGRAMS.values()))
        health = sandbox.health()
    for name, verdict in zip(PROGRAMS, verdicts, strict=True):
        print(f"{name:9} {verdict.status:8} {verdict.cpu_ms:6.1f} ms   {verdict.value or verdict.detail}")
    print(f"{health.executed} programs, {health.infra} lost by the sandbox ({health.backend})")


if __name__ == "__main__":
    main()
