// expected: TLE_CPU
// why: a program that computes for ever
int main() { for (volatile long i = 0;; ++i) {} }
