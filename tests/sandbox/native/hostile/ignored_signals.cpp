// expected: TLE_CPU
// why: signals that announce a limit may be ignored, and end nothing then
#include <signal.h>
int main() {
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (volatile long i = 0;; ++i) {}
}
