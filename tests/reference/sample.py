"""Sampling in plain Python: one user after the other, the nodes counted anew each time."""

from __future__ import annotations

import hashlib

PATIENCE = 20

Pairs = set[tuple[str, str]]


def place(name: str, seed: int) -> int:
    return int(hashlib.md5(f"{seed} {name}".encode()).hexdigest()[:15], 16)


def sample(pairs: Pairs, *, social: bool, nodes: int, seeds: int, seed: int, uniform: bool = False) -> Pairs:
    """The subscriptions of a sample."""
    return _Sampler(pairs, social, nodes, seed).run(seeds, uniform)


class _Sampler:
    def __init__(self, pairs: Pairs, social: bool, nodes: int, seed: int) -> None:
        self.pairs, self.social, self.nodes, self.seed = pairs, social, nodes, seed
        users = {u for u, _ in pairs} | ({t for _, t in pairs} if social else set())
        self.users = sorted(users, key=lambda name: place(name, seed))
        self.visited: set[str] = set()
        self.left_out: set[str] = set()

    def run(self, seeds: int, uniform: bool) -> Pairs:
        while self.missing() and len(self.left_out) < PATIENCE:
            open_ = [u for u in self.users if u not in self.visited and u not in self.left_out]
            level = [v for v in open_ if uniform or any(self.adjacent(u, v) for u in self.visited)]
            if not level:
                wanting = {u for u, _ in self.pairs}
                level = [u for u in open_ if u in wanting][:seeds]
                seeds *= 2
            if not level:
                break
            self.visit(level)
        return self.induced(self.visited)

    def visit(self, level: list[str]) -> None:
        """One by one until there would be too many nodes; then those that add one each."""
        for user in level:
            if len(self.nodes_of(self.visited | {user})) > self.nodes:
                ones = [u for u in self.users if u not in self.visited | self.left_out and self.adds_one(u)]
                self.visited |= set(ones[: self.missing()])
                if self.missing():
                    self.left_out.add(user)
                return
            self.visited.add(user)

    def missing(self) -> int:
        return self.nodes - len(self.nodes_of(self.visited))

    def adds_one(self, user: str) -> bool:
        return self.nodes_of(self.visited | {user}) - self.nodes_of(self.visited) == {user}

    def adjacent(self, u: str, v: str) -> bool:
        if self.social:
            return (u, v) in self.pairs or (v, u) in self.pairs
        return bool({t for w, t in self.pairs if w == u} & {t for w, t in self.pairs if w == v})

    def induced(self, visited: set[str]) -> Pairs:
        return {(u, t) for u, t in self.pairs if u in visited and (not self.social or t in visited)}

    def nodes_of(self, visited: set[str]) -> set[str]:
        return {u for u, _ in self.induced(visited)}
