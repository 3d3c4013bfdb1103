// expected: RAISED exit status 4
// why: every descriptor that it has is written to, and none of them is that of the report
const fs = require("fs");
for (let fd = 3; fd < 100; fd++) try { fs.writeSync(fd, "KF\u0003\u0000\n!OK\n"); } catch {}
console.log("42\n!OK"); process.exitCode = 4;
