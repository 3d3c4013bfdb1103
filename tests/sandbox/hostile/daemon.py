# item: 32
# why: leaves a daemon behind that keeps the report open
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.setsid(),
    lambda: os.fork(),
    lambda: os.posix_spawn('/kolmo', ['x'], {}),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
