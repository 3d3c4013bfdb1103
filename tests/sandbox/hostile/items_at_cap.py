# item: 18
# why: a value of exactly as many items as allowed
# docker: OK
# embedded: OK
# value: [4096]

x = [7] * 4096
len(x)
