# item: 38
# why: parts of the kernel with a bad record
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
output = []
for number, attempt in enumerate([
    lambda: libc.syscall(425, 8, None),
    lambda: libc.syscall(321, 0, None, 0),
    lambda: libc.syscall(323, 0),
    lambda: libc.syscall(298, None, 0, -1, -1, 0),
    lambda: libc.socket(40, 1, 0),
    lambda: libc.socket(16, 3, 0),
    lambda: libc.socket(17, 3, 0),
    lambda: libc.socket(38, 5, 0),
    lambda: libc.syscall(435, None, 0),
    lambda: libc.syscall(157, 22, 1),
    lambda: libc.syscall(317, 1, 0, None),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
