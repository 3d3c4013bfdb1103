// expected: SYNTAX
// detail: line 4: expected
// why: a program that does not compile is told where
int main() { return 0 }
