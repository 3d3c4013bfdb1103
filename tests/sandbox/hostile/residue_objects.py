# item: 43
# why: looks for the program before through every object that the garbage collector knows, and through the frames
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

gc = sys.modules["gc"]
sought = "".join(["sequence", "_2 = ", "repeat", "_list(3, "])
output = []
for thing in gc.get_objects():
    for part in gc.get_referents(thing):
        if type(part) is str and sought in part and part is not sought or type(part) is bytes and sought.encode() in part:
            output.append(len(part))
frame = sys._getframe()
while frame:
    output += [len(v) for v in frame.f_locals.values() if type(v) is bytes and sought.encode() in v]
    frame = frame.f_back
output
