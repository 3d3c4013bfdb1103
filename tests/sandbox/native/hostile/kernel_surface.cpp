// expected: OK
// prints: refused
// why: calls in which kernels had holes, and which hold what a program leaves
#include <initializer_list>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
int main() {
    for (int flag : {0x10000000, 0x20000, 0x40000000, 0x20000000}) if (syscall(SYS_unshare, flag) == 0) { puts("unshare"); return 0; }
    struct { const char *name; long made; } tried[] = {
        {"add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3)}, {"keyctl", syscall(SYS_keyctl, 0, -3, 1)},
        {"bpf", syscall(SYS_bpf, 0, nullptr, 0)}, {"io_uring", syscall(SYS_io_uring_setup, 8, nullptr)},
        {"userfaultfd", syscall(SYS_userfaultfd, 1)}, {"perf_event_open", syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)},
        {"memfd_create", syscall(SYS_memfd_create, "x", 0)}, {"mount", syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, nullptr)},
        {"fsopen", syscall(430, "tmpfs", 0)}, {"shmget", shmget(1, 4096, 01600)}, {"semget", semget(1, 1, 01600)},
        {"msgget", msgget(1, 01600)}, {"mq_open", syscall(SYS_mq_open, "x", 0102, 0600, nullptr)},
        {"personality", syscall(SYS_personality, 0xffffffff)}, {"setns", syscall(SYS_setns, 0, 0)},
        {"inotify", syscall(SYS_inotify_init1, 0)}, {"chroot", chroot("/")},
    };
    for (auto each : tried) if (each.made >= 0) { puts(each.name); return 0; }
    puts("refused");
}
