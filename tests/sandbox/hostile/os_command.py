# item: 34
# why: runs a command by the name that is there for it
# docker: DENIED
# embedded: DENIED

import os

os.system("true")
