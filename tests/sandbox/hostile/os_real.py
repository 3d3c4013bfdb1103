# item: 30
# why: finds the real os behind a module, and signals process 1
# docker: DENIED
# embedded: DENIED

import os.path

real = os.path.os
real.kill(1, 9)
