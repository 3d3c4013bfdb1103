# item: 45
# why: sets a timer that raises in our code
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

signal = sys.modules["signal"]
output = []
for number, attempt in enumerate([
    lambda: signal.setitimer(signal.ITIMER_REAL, 0.01),
    lambda: signal.setitimer(signal.ITIMER_PROF, 0.01),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
