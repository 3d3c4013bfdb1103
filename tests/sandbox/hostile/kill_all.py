# item: 27
# why: kills every process it may
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.kill(-1, 9),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
