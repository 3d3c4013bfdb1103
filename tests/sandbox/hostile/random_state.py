# item: 44
# why: draws again and again, hoping that chance differs from run to run
# docker: OK
# embedded: OK
# value: [864, 394, 776]

import random

output = [random.randrange(1000) for _ in range(3)]
