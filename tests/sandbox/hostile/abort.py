# item: 40
# why: aborts
# docker: SIGNAL
# embedded: DENIED|RUNTIME

from collections import _sys as sys

os = sys.modules["os"]
os.abort()
