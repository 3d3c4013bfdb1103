// expected: OK
// prints: refused
// why: a daemon that writes what the next program prints
#include <stdio.h>
#include <unistd.h>
int main() { puts(daemon(1, 1) ? "refused" : "in the background"); }
