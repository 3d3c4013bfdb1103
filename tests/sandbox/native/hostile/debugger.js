// expected: OK
// prints: refused
// why: the debugger of the engine would listen on a port
try { require("inspector").open(9229, "127.0.0.1"); } catch {}
console.log(require("inspector").url() === undefined ? "refused" : "open");
