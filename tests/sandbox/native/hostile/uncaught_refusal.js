// expected: RAISED Error
// why: a refusal that nobody catches is an exception
require("fs").readFileSync("/etc/passwd");
