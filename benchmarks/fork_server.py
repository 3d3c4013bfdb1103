"""A plain fork server: what the operating system charges for a process per program, with no wall at all.

    python -I -S benchmarks/fork_server.py FUNCTIONS PROGRAMS

Reads nothing: it makes its own programs, forks, compiles, runs, takes the result from a pipe, waits, one after
another on one core, and prints programs per second. `benchmarks/sandbox.py` runs one for each core.
"""

import gc
import os
import sys
import time

PROGRAM = (
    "sequence_1 = range_func_up({0}, {1})\nsequence_2 = repeat_list(3, sequence_1)\noutput = reverse_list(sequence_2)"
)


def main(functions: str, count: int) -> None:
    space: dict[str, object] = {}
    with open(functions, encoding="utf-8") as file:
        exec(compile(file.read(), "<language>", "exec"), space)
    gc.collect()
    gc.freeze()
    gc.disable()
    started = time.perf_counter()
    for number in range(count):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            exec(compile(PROGRAM.format(number % 50, number % 50 + 9), "<program>", "exec"), space)
            os.write(write_end, repr(space["output"]).encode())
            os._exit(0)
        os.close(write_end)
        while os.read(read_end, 65536):
            pass
        os.close(read_end)
        os.waitpid(pid, 0)
    print(count / (time.perf_counter() - started))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
