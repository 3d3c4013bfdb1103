// expected: SIGNAL
// why: memory that is not there
int main() { volatile int *nowhere = nullptr; return *nowhere; }
