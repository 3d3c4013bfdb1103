# item: 20
# why: writes a file by a handler of logging
# docker: DENIED
# embedded: DENIED

import logging

logging.FileHandler("/tmp/x")
