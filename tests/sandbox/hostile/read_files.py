# item: 24
# why: reads what could tell about the machine or about others
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.open("/etc/passwd", os.O_RDONLY),
    lambda: os.open("/etc/hostname", os.O_RDONLY),
    lambda: os.open("/proc/1/mem", os.O_RDONLY),
    lambda: os.open("/proc/1/environ", os.O_RDONLY),
    lambda: os.open("/proc/1/maps", os.O_RDONLY),
    lambda: os.open("/proc/1/cmdline", os.O_RDONLY),
    lambda: os.open("/proc/self/mem", os.O_RDONLY),
    lambda: os.open("/proc/self/maps", os.O_RDONLY),
    lambda: os.open("/proc/self/environ", os.O_RDONLY),
    lambda: os.open("/proc/kcore", os.O_RDONLY),
    lambda: os.open("/dev/mem", os.O_RDONLY),
    lambda: os.open("/dev/urandom", os.O_RDONLY),
    lambda: os.open("/sys/kernel", os.O_RDONLY),
    lambda: os.open("/proc/net/tcp", os.O_RDONLY),
    lambda: os.open("/proc/loadavg", os.O_RDONLY),
    lambda: os.open("/kolmo/supervisor.py", os.O_RDONLY),
    lambda: os.open("/kolmo/functions.py", os.O_RDONLY),
    lambda: os.listdir("/proc/1/fd"),
    lambda: os.readlink("/proc/self/exe"),
    lambda: os.stat("/kolmo"),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
