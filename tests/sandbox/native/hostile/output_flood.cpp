// expected: OLE
// why: output without an end
#include <stdio.h>
int main() { for (;;) puts("more and more and more"); }
