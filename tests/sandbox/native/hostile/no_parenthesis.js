// expected: SYNTAX
// detail: SyntaxError: missing ) after argument list (line 4)
// why: a program that does not compile is told where
console.log("x"
