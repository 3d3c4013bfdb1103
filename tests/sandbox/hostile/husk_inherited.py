# item: 46
# why: makes an object of a class that inherits from what is not there
# docker: DENIED
# embedded: DENIED

import unittest


class T(unittest.TestCase):
    pass


T()
