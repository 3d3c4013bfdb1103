# item: 24
# why: opens a file by os
# docker: DENIED
# embedded: DENIED

import os

os.open("/etc/passwd", os.O_RDONLY)
