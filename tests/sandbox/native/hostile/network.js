// expected: OK
// prints: refused
// why: no network
const failed = () => { console.log("refused"); process.exit(0); };
try { require("net").connect(80, "127.0.0.1").on("error", failed).on("connect", () => console.log("connected")); } catch { failed(); }
