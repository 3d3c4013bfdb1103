# item: 26
# why: reads the source of what called it
# docker: RUNTIME|DENIED
# embedded: DENIED

import inspect

output = [ord(c) for c in inspect.getsource(inspect.stack()[1].frame)]
