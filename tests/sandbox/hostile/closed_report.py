# item: 17
# why: closes its report and waits
# docker: TLE_WALL
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
sys.modules["time"].sleep(os.close(3) or 99)
