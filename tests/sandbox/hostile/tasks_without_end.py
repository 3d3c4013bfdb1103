# item: 12
# why: tasks that make tasks, in a loop that always has something to do
# docker: TLE_CPU|TLE_WALL|MLE
# embedded: DENIED|RUNTIME|SYNTAX

import asyncio


async def more():
    asyncio.ensure_future(more())
    await asyncio.sleep(0)


async def main():
    while True:
        await more()


asyncio.run(main())
