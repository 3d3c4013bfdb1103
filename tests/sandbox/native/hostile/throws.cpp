// expected: RAISED std::out_of_range
// why: an exception that nobody catches ends one input
#include <stdexcept>
int main() { throw std::out_of_range("3"); }
