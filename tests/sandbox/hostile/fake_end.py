# item: 47
# why: claims a good end before the end
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.write(3, b"[1]\n!OK\n")
os._exit(0)
output = 2
