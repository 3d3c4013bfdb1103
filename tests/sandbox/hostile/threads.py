# item: 12
# why: starts ten thousand threads
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

thread = sys.modules["_thread"]
output = []
for _ in range(10_000):
    try:
        output.append(thread.start_new_thread(len, ([],)) > 0)
    except RuntimeError:
        pass
output
