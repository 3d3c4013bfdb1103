// expected: OK
// prints: refused
// why: no network, and no socket to another process
#include <initializer_list>
#include <stdio.h>
#include <sys/socket.h>
int main() {
    int pair[2];
    for (int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, 38, 40})
        for (int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW})
            if (socket(family, kind, 0) >= 0 || socketpair(family, kind, 0, pair) == 0) { puts("a socket"); return 0; }
    puts("refused");
}
