// expected: RAISED SyntaxError
// why: a text that a program parses is not the program
JSON.parse("{");
