// expected: OK
// prints: refused refused refused
// why: every other way to a process: vfork, clone, clone3
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static char stack[65536];
static int child(void *) { return 0; }
int main() {
    long made[3] = {syscall(SYS_vfork), clone(child, stack + sizeof stack, 17 | CLONE_VM | CLONE_VFORK, nullptr), syscall(SYS_clone3, nullptr, 0)};
    for (long each : made) printf("%s%s", &each == made ? "" : " ", each < 0 ? "refused" : "made");
    puts("");
}
