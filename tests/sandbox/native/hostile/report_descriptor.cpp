// expected: OK
// prints: refused
// why: the report goes over a descriptor that a program does not have
#include <initializer_list>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main() {
    for (int fd = 3; fd < 1024; ++fd) if (fcntl(fd, F_GETFD) >= 0 || write(fd, "KF\3\0", 4) > 0) { printf("%d\n", fd); return 0; }
    for (const char *place : {"/proc/1/fd/1", "/proc/1/fd/0", "/dev/console", "/dev/tty"}) if (open(place, O_RDWR) >= 0) { puts(place); return 0; }
    puts("refused");
}
