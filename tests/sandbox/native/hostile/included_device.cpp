// expected: SYNTAX
// why: a file without an end
#include "/dev/zero"
int main() {}
