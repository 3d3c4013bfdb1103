// expected: OK
// prints: 500000
// why: no hostile one: what was printed before an exit is not lost
process.stdout.write(" ".repeat(499993)); process.stdout.write(" 500000"); process.exit();
