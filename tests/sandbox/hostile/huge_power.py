# item: 4
# why: one C loop without a bytecode between
# docker: TLE_CPU|MLE
# embedded: TLE_CPU|MLE

x = 10 ** 10**9
