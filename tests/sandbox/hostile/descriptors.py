# item: 13
# why: opens a million descriptors
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for _ in range(10_000):
    try:
        output.append(os.pipe()[0])
    except OSError:
        pass
output
