# item: 35
# why: raises its limits by resource, which says yes, and takes more memory than it may
# docker: MLE
# embedded: DENIED

import resource

resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
x = bytearray(1 << 31)
