// expected: TLE_WALL
// why: a program that waits for ever
setInterval(() => {}, 1000);
