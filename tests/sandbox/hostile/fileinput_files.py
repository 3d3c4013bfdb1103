# item: 24
# why: reads a file by fileinput
# docker: DENIED
# embedded: DENIED

import fileinput

output = len(list(fileinput.input(["/etc/passwd"])))
