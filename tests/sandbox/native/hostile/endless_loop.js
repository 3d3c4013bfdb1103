// expected: TLE_CPU
// why: a program that computes for ever
for (;;) {}
