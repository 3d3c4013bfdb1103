# item: 26
# why: asks for its own source
# docker: RUNTIME
# embedded: RUNTIME|OK

x = len(__file__)
