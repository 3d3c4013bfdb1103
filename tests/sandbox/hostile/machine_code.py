# item: 38
# why: makes memory that can be executed
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
failed = ctypes.c_void_p(-1).value
fresh = libc.mmap(None, 4096, 7, 0x22, -1, 0)
plain = libc.mmap(None, 4096, 3, 0x22, -1, 0)
changed = libc.mprotect(ctypes.c_void_p(plain), 4096, 5)
output = [n for n, done in enumerate([fresh != failed, plain == failed, changed == 0]) if done]
