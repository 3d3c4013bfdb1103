# item: 52
# why: the right value, then SystemExit(0)
# docker: RUNTIME
# embedded: DENIED|RUNTIME

output = [1, 2]
raise SystemExit(0)
