# item: 42
# why: hooks that run at exit must not run in a program that is no script
# docker: OK
# embedded: DENIED
# value: [5]

import atexit
import os.path

atexit.register(os.path.os.write, 3, b"[9]\n!OK\n")
output = 5
