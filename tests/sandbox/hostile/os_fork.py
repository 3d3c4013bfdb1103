# item: 11
# why: forks by the real os
# docker: DENIED
# embedded: DENIED

import os.path

real = os.path.os
real.fork()
