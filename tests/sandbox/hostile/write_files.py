# item: 20
# why: writes wherever a Unix system lets one
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.open("./x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/tmp/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/dev/shm/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/run/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/run/lock/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/var/tmp/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/home/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/dev/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/dev/mqueue/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/proc/self/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/kolmo/x", os.O_CREAT | os.O_RDWR),
    lambda: os.open("/proc/self/oom_score_adj", os.O_WRONLY),
    lambda: os.open("/proc/self/mem", os.O_RDWR),
    lambda: os.open("/dev/null", os.O_RDWR),
    lambda: os.mkdir("/tmp/d"),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
