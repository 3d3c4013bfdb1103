# item: 31
# why: kills every number that its parent could have
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for pid in range(2, 200):
    try:
        os.kill(pid, 9)
        output.append(pid)
    except OSError:
        pass
output
