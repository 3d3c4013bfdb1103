// expected: RAISED RangeError
// why: recursion without an end
(function deeper() { deeper(); })();
