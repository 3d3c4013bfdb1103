# item: 47
# why: writes frames to every descriptor
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
frame = b"KF\x03\x00" + (1).to_bytes(4, "little") + bytes(8)
for fd in range(256):
    try:
        os.write(fd, frame)
    except OSError:
        pass
output = 1
