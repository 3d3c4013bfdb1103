# item: 38
# why: the table of system calls of another architecture
# docker: SIGNAL
# embedded: DENIED|RUNTIME

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(0x40000000 + 39)
