// expected: TLE_WALL
// why: a process that has stopped itself neither computes nor ends
#include <signal.h>
int main() { for (;;) raise(SIGSTOP); }
