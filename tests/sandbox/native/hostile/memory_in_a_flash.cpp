// expected: MLE
// why: a program that ends well before anybody has looked at its memory
#include <stdio.h>
#include <stdlib.h>
int main() {
    size_t much = 90u << 20;
    volatile char *all = (volatile char *)malloc(much);
    for (size_t at = 0; at < much; at += 4096) all[at] = 1;
    printf("%d\n", all[much / 2]);
}
