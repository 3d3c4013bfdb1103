# item: 24
# why: entities that grow, and an entity that is a file
# docker: RUNTIME|MLE|TLE_CPU
# embedded: DENIED|RUNTIME

import xml.etree.ElementTree as ET

try:
    ET.fromstring('<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>')
    raise SystemExit
except ET.ParseError:
    pass
names = "".join(f'<!ENTITY n{i} "{f"&n{i - 1};" * 10}">' for i in range(1, 10))
ET.fromstring(f'<!DOCTYPE a [<!ENTITY n0 "{"a" * 100}">{names}]><a>&n9;</a>')
