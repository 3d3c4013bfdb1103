// expected: TLE_CPU|TLE_WALL
// why: nobody keeps what goes to stderr, however much it is
#include <stdio.h>
int main() { for (;;) fputs("worse and worse and worse\n", stderr); }
