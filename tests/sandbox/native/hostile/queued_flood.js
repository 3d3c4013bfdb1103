// expected: OLE|MLE|TLE_CPU
// why: node queues what nobody reads while its program computes
for (;;) console.log("more and more and more".repeat(1000));
