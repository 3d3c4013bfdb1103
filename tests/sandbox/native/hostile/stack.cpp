// expected: SIGNAL|MLE
// why: recursion without an end
int deeper(volatile int *above) { volatile int here[64]; here[0] = *above + 1; return deeper(here) + here[1]; }
int main() { volatile int first = 0; return deeper(&first); }
