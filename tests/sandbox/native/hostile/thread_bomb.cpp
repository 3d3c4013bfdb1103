// expected: RAISED std::system_error
// why: threads without an end
#include <thread>
#include <vector>
#include <unistd.h>
int main() { std::vector<std::thread> all; for (;;) all.emplace_back([] { for (;;) pause(); }); }
