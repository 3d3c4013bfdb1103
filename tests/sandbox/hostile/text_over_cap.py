# item: 18
# why: a long string
# docker: OLE
# embedded: OLE

x = 'x' * 5000
