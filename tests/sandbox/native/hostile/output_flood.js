// expected: OLE
// why: output without an end
for (;;) require("fs").writeSync(1, "more and more and more\n".repeat(1000));
