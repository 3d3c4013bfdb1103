// expected: MLE
// why: more memory than any machine has, in one piece
#include <new>
#include <stdio.h>
int main() { char *all = new char[1L << 50]; all[0] = 1; puts(all); }
