# item: 46
# why: a thread that waits for another one: there are none, so that it would wait for ever
# docker: DENIED
# embedded: DENIED

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
