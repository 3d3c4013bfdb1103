# item: 9
# why: asks the kernel for a terabyte
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
size = ctypes.c_size_t(2**40)
address = libc.mmap(None, size, 3, 0x22, -1, 0)
output = [] if address == ctypes.c_void_p(-1).value else [1]
