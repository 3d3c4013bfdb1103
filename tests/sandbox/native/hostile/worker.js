// expected: TLE_CPU
// why: the time of all threads is the time of the program
const { Worker } = require("worker_threads");
new Worker("for (;;) {}", { eval: true }); setInterval(() => {}, 1000);
