# item: 47
# why: writes more values than it has statements
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.write(3, b"[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n")
output = 7
