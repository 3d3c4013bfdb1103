// expected: OLE
// why: output without an end
for (;;) console.log("more and more and more".repeat(10000));
