// expected: SYNTAX
// why: a short source with a large object fills the scratch folder
asm(".data\n.fill 2000000000, 1, 7\n.text");
int main() {}
