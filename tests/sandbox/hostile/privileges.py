# item: 37
# why: leaves its namespaces, or becomes root
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
output = []
for number, attempt in enumerate([
    lambda: libc.unshare(0x10000000),
    lambda: libc.unshare(0x20000),
    lambda: libc.setns(3, 0),
    lambda: libc.mount(b"/", b"/", None, 4096, None),
    lambda: libc.chroot(b"/"),
    lambda: libc.chdir(b"/proc"),
    lambda: libc.setuid(0),
    lambda: libc.setgid(0),
    lambda: libc.syscall(126, None, None),
    lambda: libc.prctl(4, 1, 0, 0, 0),
    lambda: libc.prctl(38, 0, 0, 0, 0),
    lambda: libc.personality(0x0040000),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
