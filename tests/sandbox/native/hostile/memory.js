// expected: MLE
// why: objects without an end
const all = []; for (;;) all.push(new Array(1000).fill({ more: all.length }));
