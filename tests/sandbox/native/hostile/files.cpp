// expected: OK
// prints: refused
// why: files would reach the next program, or fill the machine
#include <initializer_list>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main() {
    const char *places[] = {"x", "/scratch/x", "/scratch/program", "/tmp/x", "/var/tmp/x", "/dev/shm/x", "/dev/mqueue/x", "/run/x", "/proc/self/oom_score_adj"};
    for (const char *place : places)
        if (open(place, O_WRONLY | O_CREAT | O_TRUNC, 0600) >= 0 || mkdir(place, 0700) == 0 || symlink("/", place) == 0 || mknod(place, S_IFIFO | 0600, 0) == 0) { puts(place); return 0; }
    if (unlink("/scratch/program.cpp") == 0 || rename("/scratch/program.cpp", "/scratch/y") == 0 || chmod("/scratch/program", 0) == 0) { puts("changed"); return 0; }
    puts("refused");
}
