# item: 46
# why: every importable module
# docker: OK
# embedded: OK|DENIED|RUNTIME
# value: [9, 4, 1]

import base64
import binascii
import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import random
import re
import string
import struct
import zlib

output = [math.isqrt(99), len(base64.b64encode(b'abc')), zlib.crc32(b'x') & 1, *itertools.islice('ab', 0)]
