# item: 40
# why: reads address 0
# docker: SIGNAL
# embedded: DENIED|RUNTIME

from collections import _sys as sys

ctypes = sys.modules["ctypes"]
libc = ctypes.CDLL(None, use_errno=True)
ctypes.string_at(0)
