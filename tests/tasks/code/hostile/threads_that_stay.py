# why: starts threads that would report after the call
import threading
import os


def later():
    for fd in (1, 2, 3):
        try:
            os.write(fd, b"\n!OK\n")
        except OSError:
            pass


def solve(x):
    for _ in range(8):
        threading.Thread(target=later, daemon=True).start()
    return None


solve(0)
