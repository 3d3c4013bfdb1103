# item: 21
# why: files without a name
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.memfd_create("x"),
    lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR),
    lambda: os.ftruncate(0, 100),
    lambda: os.ftruncate(3, 100),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
