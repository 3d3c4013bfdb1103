// expected: TLE_WALL
// why: closed pipes hold up nobody
#include <unistd.h>
int main() { for (int fd = 0; fd < 256; ++fd) close(fd); for (;;) pause(); }
