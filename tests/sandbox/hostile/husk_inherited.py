# item: 46
# why: inherits from what is not there
# docker: DENIED
# embedded: DENIED

import unittest


class T(unittest.TestCase):
    pass
