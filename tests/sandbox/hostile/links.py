# item: 23
# why: links, devices and pipes with names
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.symlink("/etc/passwd", "/tmp/l"),
    lambda: os.link("/etc/passwd", "/tmp/h"),
    lambda: os.mknod("/tmp/n"),
    lambda: os.mkfifo("/tmp/f"),
    lambda: os.rename("/kolmo", "/k"),
    lambda: os.unlink("/kolmo/child.py"),
    lambda: os.chmod("/kolmo", 0o777),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
