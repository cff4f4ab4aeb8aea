"""Train a small policy to work with a CRM that fails, and draw its learning curve. It needs no model and no GPU.

    python examples/training/learn.py [--clean] [--episodes N] [--run N]

The policy chooses one of four actions by what it did last and what came of it, and learns from groups of eight episodes
in the same world: actions of an episode that did better than its group become likelier. With --clean it trains without
faults. It is tested with them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TypeAlias

from mcp_sim.training import Answer, Environment, ToolCall

SCENARIO = Path(__file__).with_name("deals.yaml")
ACTIONS = ("create", "look", "update", "answer")
TITLE = "Spring order"
GROUP, LONGEST, RATE, SEEDS = 8, 10, 0.3, 8
TESTS = 200

State: TypeAlias = tuple[str, str, bool]
"""The last action, what came of it, and whether the id of the deal is known."""

Steps: TypeAlias = list[tuple[State, int]]


class Policy:
    """A table of preferences: for each state, one per action."""

    def __init__(self, draws: Random) -> None:
        self._draws = draws
        self._preferences: dict[State, list[float]] = {}

    def chances(self, state: State) -> list[float]:
        """Return the probability of each action."""
        preferences = self._preferences.setdefault(state, [0.0] * len(ACTIONS))
        powers = [math.exp(preference - max(preferences)) for preference in preferences]
        return [power / sum(powers) for power in powers]

    def choose(self, state: State, *, best: bool) -> int:
        """Draw an action, or take the best one."""
        chances = self.chances(state)
        if best:
            return chances.index(max(chances))
        return self._draws.choices(range(len(ACTIONS)), chances)[0]

    def learn(self, group: Sequence[tuple[Steps, float]]) -> None:
        """Make the actions of episodes that did better than their group likelier."""
        usual = fmean(reward for _, reward in group)
        for steps, reward in group:
            for state, action in steps:
                chances = self.chances(state)
                for at, chance in enumerate(chances):
                    self._preferences[state][at] += RATE * (reward - usual) * ((at == action) - chance)


def play(environment: Environment, policy: Policy, *, best: bool = False) -> tuple[Steps, float | None]:
    """Play the episode that has begun; return what was done and the reward."""
    steps, known, last, came = Steps(), "", "start", ""
    for _ in range(LONGEST):
        state = last, came, bool(known)
        action = policy.choose(state, best=best)
        steps.append((state, action))
        if ACTIONS[action] == "answer":
            break
        calls = {
            "create": ToolCall("create_deal", {"title": TITLE, "amount": 4000, "contact_id": "con_00001"}),
            "look": ToolCall("list_deals", {"contact_id": "con_00001", "limit": 50}),
            "update": ToolCall("update_deal", {"deal_id": known or "deal_9999", "stage": "proposal"}),
        }
        [message] = environment.step(calls[ACTIONS[action]]).messages
        ids = [] if message.is_error else ids_in(message.text)
        known = ids[0] if ids else known
        last, came = ACTIONS[action], "error" if message.is_error else f"{min(len(ids), 2)} deals"
    return steps, environment.step(Answer("Done.")).reward


def ids_in(text: str) -> list[str]:
    """Return the ids of our deals in an answer."""
    value = json.loads(text)
    return [deal["id"] for deal in value.get("deals", [value]) if deal.get("title") == TITLE]


def success(environment: Environment, policy: Policy, count: int = TESTS) -> float:
    """Return the share of episodes with faults that the best actions of the policy bring to a reward of 1."""
    won = 0
    for number in range(count):
        environment.reset(seed=100_000 + number % 4, stream=f"test {number}")
        won += play(environment, policy, best=True)[1] == 1
    return won / count


def train(episodes: int, run: int, *, clean: bool) -> list[float]:
    """Return the learning curve: the share of tests that succeed, before the training and at ten points of it."""
    environment, policy = Environment(SCENARIO), Policy(Random(run))  # noqa: S311 (no secret)
    curve = [success(environment, policy)]
    for number in range(episodes // GROUP):
        group = list[tuple[Steps, float]]()
        for _ in range(GROUP):
            environment.reset(seed=number % SEEDS, stream=f"{run}/{number}", faults=not clean)
            steps, reward = play(environment, policy)
            if reward is not None:  # mcp-sim crashed: nothing is learnt from it
                group.append((steps, reward))
        policy.learn(group)
        if (number + 1) % (episodes // GROUP // 10) == 0:
            curve.append(success(environment, policy))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small policy, and draw its learning curve.")
    parser.add_argument("--clean", action="store_true", help="train without faults")
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--run", type=int, default=0, help="the seed of the policy")
    args = parser.parse_args()
    curve = train(args.episodes, args.run, clean=args.clean)
    for at, share in enumerate(curve):
        print(f"{at * args.episodes // 10:6} episodes  {share:4.2f}  {'#' * round(40 * share)}")


if __name__ == "__main__":
    main()
