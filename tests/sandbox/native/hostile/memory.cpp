// expected: MLE
// why: memory that is touched page by page
#include <stdlib.h>
#include <string.h>
int main() { for (;;) { char *more = (char *)malloc(1 << 20); if (more) memset(more, 1, 1 << 20); } }
