// expected: OK
// prints: refused
// why: another process would outlive the program, or use the time of others
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main() {
    for (int i = 0; i < 100; ++i)
        if (fork() >= 0 || errno != EPERM) { puts("forked"); return 0; }
    puts("refused");
}
