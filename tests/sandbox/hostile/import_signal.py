# item: 46
# why: a module that can be imported, and nothing in it used
# docker: DENIED
# embedded: DENIED

import signal

signal.setitimer(signal.ITIMER_REAL, 0.1)
