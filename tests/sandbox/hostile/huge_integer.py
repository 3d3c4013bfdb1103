# item: 18
# why: an integer that takes longer to print than to make
# docker: OLE
# embedded: OLE

x = 1 << 100_000
