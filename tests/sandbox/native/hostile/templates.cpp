// expected: SYNTAX
// slow: as long as a compiler may take
// why: a source that takes a compiler for ever
template <int depth, int other> struct Deep { static constexpr long value = Deep<depth - 1, 2 * other>::value + Deep<depth - 1, 2 * other + 1>::value; };
template <int other> struct Deep<0, other> { static constexpr long value = other; };
int main() { return Deep<28, 1>::value & 1; }
