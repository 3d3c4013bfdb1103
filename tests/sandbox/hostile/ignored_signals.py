# item: 3
# why: ignores every signal that can be ignored, then burns CPU
# docker: TLE_CPU
# embedded: DENIED|RUNTIME

from collections import _sys as sys

signal = sys.modules["signal"]
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while 1:
    pass
