// expected: RAISED exit status 1
// why: anything can be thrown
throw "three";
