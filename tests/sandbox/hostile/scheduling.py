# item: 36
# why: makes itself more important
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.nice(-5),
    lambda: os.sched_setaffinity(0, {0}),
    lambda: os.sched_setscheduler(0, 1, os.sched_param(1)),
    lambda: os.setpriority(0, 0, -5),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
