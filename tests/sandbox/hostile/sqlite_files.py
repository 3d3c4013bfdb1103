# item: 24
# why: a database on a disk, one of the machine, and an extension
# docker: DENIED|RUNTIME
# embedded: DENIED|RUNTIME

import sqlite3

db = sqlite3.connect(":memory:")
found = []
for query in ("attach 'x.db' as x", "attach '/etc/passwd' as x", "vacuum into '/tmp/x.db'"):
    try:
        db.execute(query)
        db.execute("create table x.t (a)")
        found.append(query)
    except sqlite3.Error:
        pass
db.enable_load_extension(True)
try:
    db.load_extension("libm.so.6")
    found.append("extension")
except sqlite3.Error:
    pass
if not found:
    raise PermissionError(1, "nothing")
