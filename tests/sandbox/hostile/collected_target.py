# item: 43
# why: looks through all objects for a target
# docker: OK
# embedded: DENIED
# value: []

import gc

output = [1 for held in gc.get_objects() if type(held) is bytes and b"target" in held]
