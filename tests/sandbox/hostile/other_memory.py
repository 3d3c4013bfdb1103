# item: 33
# why: reads the memory and descriptors of its parents
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
output = []
for number, attempt in enumerate([
    lambda: libc.ptrace(16, 1, 0, 0),
    lambda: libc.ptrace(0, 0, 0, 0),
    lambda: libc.process_vm_readv(1, None, 0, None, 0, 0),
    lambda: libc.syscall(434, 1, 0),
    lambda: libc.syscall(438, 3, 0, 0),
    lambda: libc.syscall(312, 1, 1, 0, 0, 0),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
