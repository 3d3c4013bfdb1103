// expected: OK
// prints: refused
// why: a process in the background would outlive the program
const { spawn, spawnSync } = require("child_process");
const made = ["/bin/sh", process.execPath].map((place) => spawnSync(place, ["-c", "0"]).error === undefined);
let told = false;
try { spawn("/bin/sh", ["-c", "sleep 60"], { detached: true, stdio: "ignore" }).on("error", () => { if (!told) console.log(made.some(Boolean) ? "made" : "refused"); told = true; }); }
catch { console.log(made.some(Boolean) ? "made" : "refused"); }
