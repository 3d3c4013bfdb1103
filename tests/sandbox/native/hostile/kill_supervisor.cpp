// expected: OK
// prints: refused
// why: process 1 gives the verdicts: it cannot be killed, stopped, limited, moved, slowed or traced
#include <initializer_list>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
int main() {
    cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one);
    rlimit none = {0, 0};
    iovec mine = {&none, 8}, theirs = {(void *)0x400000, 8};
    for (int number : {SIGKILL, SIGSTOP, SIGINT, SIGTERM, SIGHUP}) {
        if (kill(1, number) == 0 || kill(-1, number) == 0 || kill(0, number) == 0) { puts("killed"); return 0; }
        syscall(SYS_tgkill, 1, 1, number);
        syscall(SYS_tkill, 1, number);
    }
    if (prlimit(1, RLIMIT_NOFILE, &none, nullptr) == 0 || sched_setaffinity(1, sizeof one, &one) == 0 ||
        setpriority(PRIO_USER, 65534, 19) == 0 || ptrace(PTRACE_ATTACH, 1, 0, 0) == 0 || syscall(SYS_pidfd_open, 1, 0) >= 0 ||
        process_vm_readv(1, &mine, 1, &theirs, 1, 0) > 0) { puts("touched"); return 0; }
    puts("refused");
}
