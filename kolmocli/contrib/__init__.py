"""Ways of other papers and what few runs need, as plugins: each is registered as anybody's would be, and imported when a file names it.

`kolmocli/contributed.py` has their names. Nothing else in the project imports this room.
"""
