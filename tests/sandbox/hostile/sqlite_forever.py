# item: 6
# why: a query in C that never ends, and never comes back to Python
# docker: TLE_CPU|TLE_WALL
# embedded: DENIED|RUNTIME

import sqlite3

sqlite3.connect(":memory:").execute("with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n").fetchone()
