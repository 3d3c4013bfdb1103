// expected: MLE
// why: objects without an end
const all = []; for (;;) all.push(new Array(1000000).fill(all.length + 0.5));
