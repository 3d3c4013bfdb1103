"""The environment of a curriculum, line by line, with Gymnasium's signatures: here the agent copies its sequence.

python examples/environment.py
"""

import kolmocli as kolmo


def main() -> None:
    env = kolmo.make_env("quickstart", split="eval")
    try:
        for seed in range(3):
            observation, info = env.reset(seed=seed)
            items = ", ".join(map(str, info["task"].target))
            observation, reward, terminated, truncated, info = env.step(f"output = set_list([{items}])")
            print(observation)
            print(
                f"  passed {info['passed']}, {info['bits']} bits, reward {reward:.2f}, over {terminated or truncated}"
            )
    finally:
        env.close()


if __name__ == "__main__":
    main()
