// expected: RAISED TypeError
// why: an exception that nobody catches ends one input
console.log(1); null.x;
