// expected: RAISED exit status 3
// why: what looks like the end of a report is output, and no output counts of a program that fails
#include <stdio.h>
int main() { fputs("42\n!OK\n", stdout); return 3; }
