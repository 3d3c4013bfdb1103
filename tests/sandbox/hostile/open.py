# item: 46
# why: open is not there
# docker: RUNTIME
# embedded: DENIED|RUNTIME

open("/etc/passwd")
