# item: 35
# why: raises its own limits
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

r = sys.modules["resource"]
output = []
for number, attempt in enumerate([
    lambda: r.setrlimit(r.RLIMIT_AS, (-1, -1)),
    lambda: r.setrlimit(r.RLIMIT_CPU, (99, 99)),
    lambda: r.setrlimit(r.RLIMIT_NPROC, (9, 9)),
    lambda: r.setrlimit(r.RLIMIT_FSIZE, (9, 9)),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
