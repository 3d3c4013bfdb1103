"""The control of the residue test: a fork server as one would write it first. It must leak.

Reads programs (one JSON string per line) from stdin; the process that read them forks the children.
"""

import json
import os
import sys

for line in sys.stdin:
    program = json.loads(line)
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        space: dict[str, object] = {}
        try:
            exec(program, space)
        finally:
            os.write(write_end, json.dumps(space.get("output", "failed")).encode())
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as result:
        print(result.read().decode(), flush=True)
    os.wait()
    del program, line
