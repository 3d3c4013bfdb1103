// expected: SYNTAX
// detail: line 4: /kolmo/native.py: Permission denied
// why: a compiler would read any file into a program, or into its errors
#include "/kolmo/native.py"
int main() {}
