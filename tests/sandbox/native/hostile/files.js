// expected: OK
// prints: refused
// why: files of others, and files for others
const fs = require("fs");
const open = [];
for (const place of ["/etc/passwd", "/kolmo/native.py", "/proc/1/environ", "/proc/self/maps", "/usr/include/stdio.h", "/usr/bin/python3"])
  try { fs.readFileSync(place); open.push(place); } catch {}
for (const place of ["x", "/scratch/x", "/scratch/program.js", "/tmp/x", "/dev/shm/x"])
  try { fs.writeFileSync(place, "x"); open.push(place); } catch {}
for (const place of ["/", "/scratch", "/proc"])
  try { fs.readdirSync(place); open.push(place); } catch {}
console.log(open.join() || "refused");
