// expected: MLE
// why: memory outside the heap of the engine
const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1));
