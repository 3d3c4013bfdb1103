# item: 18
# why: a range of a trillion items, which weighs nothing
# docker: OLE
# embedded: OLE

x = range(10**12)
