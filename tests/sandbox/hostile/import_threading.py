# item: 46
# why: a module that the reference machine does not have
# docker: DENIED
# embedded: DENIED

import threading
