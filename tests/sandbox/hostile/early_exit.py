# item: 52
# why: the right value, then an exit with status 0
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
output = [1, 2]
os._exit(0)
output
