# item: 42
# why: hooks that run at exit must not run
# docker: OK
# embedded: DENIED|RUNTIME
# value: [5]

from collections import _sys as sys

os = sys.modules["os"]
def late(*_):
    os.write(3, b"[9]\n!OK\n")


class D:
    __del__ = late


sys.excepthook = late
d = D()
output = 5
