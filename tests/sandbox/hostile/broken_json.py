# item: 47
# why: a report that is not JSON
# docker: RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.write(3, b"[[[[[[" * 1000 + b"\n")
output = 2
