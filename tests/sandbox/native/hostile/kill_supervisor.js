// expected: OK
// prints: EPERM EPERM EPERM
// why: process 1 gives the verdicts
console.log([[1, "SIGKILL"], [-1, "SIGKILL"], [0, "SIGTERM"]].map(([who, what]) => { try { process.kill(who, what); return "killed"; } catch (error) { return error.code; } }).join(" "));
