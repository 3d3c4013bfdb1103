// expected: SYNTAX
// detail: undefined reference to `main'
// why: a program that compiles and cannot be linked
int other() { return 0; }
