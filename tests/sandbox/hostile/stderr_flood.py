# item: 16
# why: writes to stderr for ever
# docker: TLE_CPU
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
while 1:
    os.write(2, b'x' * 65536)
