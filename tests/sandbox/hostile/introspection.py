# item: 54
# why: finds what it can through the classes of Python
# docker: OK
# embedded: OK|RUNTIME|DENIED
# value: []

subclasses = ().__class__.__base__.__subclasses__()
output = [1 for c in subclasses if 'Supervisor' in c.__name__ or 'Slot' in c.__name__][:0]
