# item: 54
# why: looks for the target in the frames that called it
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

output = []
frame = sys._getframe()
while frame:
    output += [len(name) for name in frame.f_locals if "target" in name and name != "target"]
    frame = frame.f_back
output
