# item: 30
# why: kills the groups of others
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.killpg(1, 9),
    lambda: os.killpg(0, 9),
    lambda: os.killpg(7, 9),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
