// expected: OK
// prints: refused
// why: what others wrote, what the machine is, what a program could take for a dictionary
#include <initializer_list>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
int main() {
    const char *places[] = {"/etc/passwd", "/kolmo/native.py", "/proc/1/environ", "/proc/1/mem", "/proc/self/maps", "/proc/cpuinfo", "/scratch/program.cpp", "/usr/include/stdio.h", "/usr/bin/python3", "/dev/null", "/dev/urandom", "/sys/kernel/uevent_seqnum"};
    for (const char *place : places) if (open(place, O_RDONLY) >= 0) { puts(place); return 0; }
    for (const char *place : {"/", ".", "/scratch", "/usr", "/proc", "/proc/self/fd"}) if (opendir(place)) { puts(place); return 0; }
    puts("refused");
}
