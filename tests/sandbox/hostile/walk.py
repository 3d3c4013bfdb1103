# item: 25
# why: walks the file system
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = [len(files) for _, folders, files in os.walk("/")]
