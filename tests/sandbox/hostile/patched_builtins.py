# item: 41
# why: breaks the builtins for whoever comes next
# docker: OK|RUNTIME
# embedded: DENIED|RUNTIME

from collections import _sys as sys

b = sys.modules["builtins"]
for name in ("len", "list", "range", "repr", "compile", "exec", "eval", "enumerate", "sorted", "min", "zip"):
    setattr(b, name, None)
sys.stdout = None
sys.modules.clear()
output = 1
