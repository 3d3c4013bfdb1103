# item: 2
# why: waits for ever without using CPU
# docker: TLE_WALL
# embedded: DENIED|RUNTIME

from collections import _sys as sys

sys.modules["time"].sleep(99)
