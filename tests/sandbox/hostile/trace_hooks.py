# item: 45
# why: watches and changes what runs after it
# docker: OK
# embedded: DENIED|RUNTIME
# value: [4]

from collections import _sys as sys

sys.settrace(lambda *_: None)
sys.setprofile(lambda *_: None)
sys.modules["gc"].freeze()
output = 4
