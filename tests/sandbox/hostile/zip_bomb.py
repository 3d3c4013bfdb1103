# item: 10
# why: decompresses to more than the memory
# docker: MLE|TLE_CPU
# embedded: DENIED|RUNTIME|MLE|TLE_CPU

import zlib

small = zlib.compress(bytes(3_000_000))
x = [[zlib.decompress(small)] for _ in range(500)]
