# item: 17
# why: closes its report and ends
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.close(3)
x = 1
