# item: 34
# why: runs a command that a pickle names
# docker: DENIED
# embedded: DENIED

import pickle

pickle.loads(b"cposix\nsystem\n(S'true'\ntR.")
