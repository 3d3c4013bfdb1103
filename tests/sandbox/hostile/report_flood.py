# item: 14
# why: writes to its report for ever
# docker: OLE
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
while 1:
    os.write(3, b'x' * 65536)
