# item: 47
# why: a report of things that are no integers
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.write(3, b"[1.5, true, NaN]\n")
os.write(3, b"!OK\n")
os._exit(0)
