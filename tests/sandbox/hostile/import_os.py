# item: 46
# why: a module of which programs have names and three descriptors, and what it really can do
# docker: DENIED
# embedded: DENIED

import os

os.listdir("/")
