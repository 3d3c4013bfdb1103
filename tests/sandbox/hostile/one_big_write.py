# item: 15
# why: one write of 50 MB
# docker: OLE|MLE
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.write(3, bytes(50_000_000))
