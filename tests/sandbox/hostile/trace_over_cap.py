# item: 18
# why: many long values whose sum is over the cap
# docker: OLE
# embedded: OLE|TLE_CPU

x = [10**200] * 4000
x
x
x
x
x
x
x
x
