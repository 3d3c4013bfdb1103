# item: 52
# why: the right value, then an exception
# docker: RUNTIME
# embedded: RUNTIME

output = [1, 2]
1 / 0
