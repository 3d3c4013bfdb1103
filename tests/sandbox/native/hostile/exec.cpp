// expected: OK
// prints: refused
// why: another program is no program of this job
#include <initializer_list>
#include <stdio.h>
#include <unistd.h>
int main() {
    char *nothing[] = {nullptr};
    for (const char *place : {"/bin/sh", "/usr/bin/g++", "/usr/bin/node", "/usr/bin/python3", "/lib64/ld-linux-x86-64.so.2"}) execve(place, nothing, nothing);
    puts("refused");
}
