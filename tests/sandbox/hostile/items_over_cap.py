# item: 18
# why: one item more than allowed
# docker: OLE
# embedded: OLE

x = [7] * 4097
