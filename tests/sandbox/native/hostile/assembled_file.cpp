// expected: SYNTAX
// why: so would an assembler
asm(".incbin \"/etc/passwd\"");
int main() {}
