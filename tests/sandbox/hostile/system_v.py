# item: 22
# why: shared memory, messages, semaphores, keys and locks as a channel
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
output = []
for number, attempt in enumerate([
    lambda: libc.shmget(1, 4096, 0o1666),
    lambda: libc.msgget(1, 0o1666),
    lambda: libc.semget(1, 1, 0o1666),
    lambda: libc.mq_open(b"/x", 0o102, 0o666, None),
    lambda: libc.syscall(250, 0, -3, 1),
    lambda: libc.syscall(248, b"user", b"x", b"y", 1, -3),
    lambda: libc.flock(0, 2),
    lambda: libc.lockf(0, 1, 0),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
