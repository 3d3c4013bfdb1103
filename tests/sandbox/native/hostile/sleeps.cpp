// expected: TLE_WALL
// why: a program that waits for ever, and takes no processor
#include <unistd.h>
int main() { for (;;) sleep(60); }
