"""The slow twin of a search: rounds in plain Python, with components found anew, and the same random draws."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from reference.interests import nodes_by_topic, topics_by_node
from topicloom.model import Interest

Link = tuple[int, int]
WORD = 2**64 - 1
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ANY = 2**38 - 1
NODE, PAIR, SIMILAR, PATH, REGION = range(5)


def mixed(z: int) -> int:
    z = (z ^ (z >> 30)) * FIRST & WORD
    z = (z ^ (z >> 27)) * SECOND & WORD
    return z ^ (z >> 31)


def hash_of(salt: int, a: int, b: int) -> int:
    return mixed(mixed(salt ^ (a * STEP & WORD)) ^ (b * SECOND & WORD))


class SlowSearch:
    """A search for fewest links under limits on degrees, with all bounds of its memory left out."""

    def __init__(
        self,
        interest: Interest,
        links: Iterable[Link],
        nearest: list[list[int]],
        most: list[int],
        seed: int,
        changes: int | None = None,
    ) -> None:
        """`changes` is how many links may differ from those given."""
        links = [(min(link), max(link)) for link in links]
        self.given = set(links) if changes is not None else set()
        self.changes, self.price = changes, 0.5
        self.topics, self.members = topics_by_node(interest), [sorted(nodes) for nodes in nodes_by_topic(interest)]
        self.row: list[list[int]] = [[] for _ in self.topics]
        for u, v in links:
            self.row[u].append(v)
            self.row[v].append(u)
        self.nearest, self.most, self.state = nearest, most, seed
        self.saved, self.work, self.share = [0.0] * 6, [0.0] * 6, [(k + 1) / 6 for k in range(6)]
        self.rounds = self.centre = 0
        self.best = self.measured()

    def measured(self) -> tuple[int, int, int, list[Link]]:
        links = sorted((u, v) for u, row in enumerate(self.row) for v in row if u < v)
        changes = 0 if self.changes is None else len(self.given ^ set(links))
        return len(links), changes, sum(len(row) ** 2 for row in self.row), links

    def draw(self) -> int:
        self.state = (self.state + STEP) & WORD
        return mixed(self.state)

    def below(self, count: int) -> int:
        return (self.draw() >> 32) * count >> 32

    def fraction(self) -> float:
        return ((self.draw() >> 11) + 1) * 2.0**-53

    def add(self, u: int, v: int) -> None:
        self.row[u].append(v)
        self.row[v].append(u)

    def remove(self, u: int, v: int) -> None:
        for one, other in ((u, v), (v, u)):
            row = self.row[one]
            row[row.index(other)] = row[-1]
            row.pop()

    def ties(self) -> int:
        """Squares of degrees, less eight for each topic that the ends of a link have in common."""
        common = sum(len(self.topics[u] & self.topics[v]) for u, row in enumerate(self.row) for v in row)
        return sum(len(row) ** 2 for row in self.row) - 4 * common

    def round(self, of: int) -> None:
        """One of so many rounds."""
        passed = self.rounds * (1 / of)
        slack = -0.1 * (0.03 / 0.1) ** passed * math.log(self.fraction())
        more = int(slack)
        worse = -100 * (20 / 100) ** passed * math.log(self.fraction())
        number = self.fraction()
        kind = next((k for k in range(5) if number <= self.share[k]), 5)
        salt = self.draw()
        before, changes_before = self.ties(), self.measured()[1]
        removed = self.ruin(kind)
        parts = Parts(self, removed)
        if self.changes is not None:
            more += int(self.price * 2 * sum(_link(link) not in self.given for link in removed))
        added = self.recreated(parts, removed, salt, len(removed) + more)
        kept = added is not None and (len(added) != len(removed) or self.ties() - before <= worse)
        if added is not None and self.changes is not None:
            change, gain = self.measured()[1] - changes_before, len(removed) - len(added)
            kept = (gain != 0 or change < 0 or self.ties() - before <= worse) and self.price * change - gain <= slack
        self.work[kind] += 16 + len(removed) + parts.size
        if kept:
            self.saved[kind] += max(0, len(removed) - len(added))
            now = self.measured()
            if self.changes is None or now[1] <= self.changes:
                self.best = min(self.best, now, key=lambda one: one[:3])
        else:
            for u, v in reversed(parts.added):
                self.remove(u, v)
            for u, v in reversed(removed):
                self.add(u, v)
        if self.changes is not None:
            step = min(0.1, 40.0 * (1 / of))
            factor = 1.0 + step if self.measured()[1] > self.changes else 1.0 - step
            self.price = min(1.0, max(1e-3, self.price * factor))
        self.rounds += 1
        if self.rounds % 2048 == 0:
            self.weigh()

    def weigh(self) -> None:
        rates = [(s + 1e-9) / (w + 1.0) for s, w in zip(self.saved, self.work, strict=True)]
        total, upto = 0.0, 0.0
        for rate in rates:
            total += rate
        for k, rate in enumerate(rates):
            upto += 0.1 + (1.0 - 6 * 0.1) * (rate / total)
            self.share[k] = upto
        self.saved = [0.8 * s for s in self.saved]
        self.work = [0.8 * w for w in self.work]

    def next_centre(self, x: int) -> int:
        step = self.below(16)
        if step == 0 or not self.row[x]:
            return self.below(len(self.row))
        if step % 2:
            return self.row[x][self.below(len(self.row[x]))]
        y = self.nearest[x][self.below(len(self.nearest[x]))]
        return y if y >= 0 else x

    def ruin(self, kind: int) -> list[Link]:
        """Remove nothing yet; say which links."""
        chosen: list[Link] = []

        def choose(u: int, v: int) -> None:
            if len(chosen) < 15 and (u, v) not in chosen and (v, u) not in chosen:
                chosen.append((u, v))

        def choose_of(x: int, count: int) -> None:
            row = self.row[x]
            for y in list(row) if len(row) <= count else [row[self.below(len(row))] for _ in range(count)]:
                choose(x, y)

        nodes = len(self.row)
        x = self.centre = self.next_centre(self.centre)
        if not self.row[x]:
            return chosen
        count = 1 + self.below(4)
        if kind == NODE:
            choose_of(x, count + 1)
        elif kind == PAIR:
            y = self.row[x][self.below(len(self.row[x]))]
            choose_of(x, count)
            choose_of(y, count)
        elif kind == SIMILAR:
            y = self.nearest[x][self.below(len(self.nearest[x]))]
            choose_of(x, count)
            if y >= 0:
                choose_of(y, count)
        elif kind == PATH:
            t = sorted(self.topics[x])[self.below(len(self.topics[x]))]
            for _ in range(count + 1):
                if not self.row[x]:
                    break
                offset = self.below(len(self.row[x]))
                following = [y for y in self.row[x][offset:] + self.row[x][:offset] if t in self.topics[y]]
                if not following:
                    break
                choose(x, following[0])
                x = following[0]
        elif kind == REGION:
            choose_of(x, 2)
            for _ in range(count):
                choose_of(self.row[x][self.below(len(self.row[x]))], 1)
        else:
            choose_of(x, 1)
            for _ in range(count):
                choose_of(self.below(nodes), 1)
        return chosen

    def component(self, x: int, t: int) -> dict[int, int]:
        """The nodes that a node reaches in a topic, and how many neighbours each has in it."""
        found, waiting = {}, [x]
        while waiting:
            y = waiting.pop()
            if y not in found:
                following = [z for z in self.row[y] if t in self.topics[z]]
                found[y] = len(following)
                waiting += following
        return found

    def recreated(self, parts: Parts, removed: list[Link], salt: int, allowed: int) -> list[Link] | None:
        """Add links until nothing is missing; None if that takes too many."""
        several = [x for x, topics in parts.first.items() if len(topics) > 1]
        candidates = {link for link in map(_link, removed) if parts.contribution(*link) > 0}
        pairs = ((a, b) for a in several for b in several if a < b)
        candidates |= {link for link in pairs if parts.contribution(*link) > 1}
        waiting = set(parts.first)
        while parts.missing:
            scored = [
                (parts.contribution(a, b) << 38 | self.tie(salt, a, b), a, b)
                for a, b in candidates
                if parts.contribution(a, b) and len(self.row[a]) < self.most[a] and len(self.row[b]) < self.most[b]
            ]
            bounds = [(parts.number_of(x) << 38 | ANY - x, x, -1) for x in waiting if parts.number_of(x)]
            key, a, b = max(scored + bounds, default=(0, 0, 0))
            if key >> 38 == 0 or len(parts.added) - (-parts.missing // (key >> 38)) > allowed:
                return None
            if b < 0:
                waiting.remove(a)
                candidates |= {_link((a, y)) for y in self.nearest[a] if y >= 0}
                candidates |= set(sorted(link for link in self.given if a in link)[:16])
                for k in range(4):
                    drawn = hash_of(salt, a, k)
                    topics = sorted(parts.first[a], key=parts.order.index)
                    members = self.members[topics[(drawn & 0xFFFFFF) % len(topics)]]
                    candidates.add(_link((a, members[(drawn >> 32) % len(members)])))
            else:
                parts.merge(a, b)
                self.add(a, b)
        return parts.added

    def tie(self, salt: int, a: int, b: int) -> int:
        ends, common = len(self.row[a]) + len(self.row[b]), len(self.topics[a] & self.topics[b])
        preference = ANY - 2**33 - ((127 - min(127, common)) << 30) - (ends << 29)
        return (hash_of(salt, a, b) >> 32) + max(0, preference) + 2**31 * ((a, b) in self.given)


class Parts:
    """The smaller components of topics from which links are removed, one after the other."""

    def __init__(self, search: SlowSearch, removed: list[Link]) -> None:
        self.topics = search.topics
        self.order = list(dict.fromkeys(t for u, v in removed for t in sorted(self.topics[u] & self.topics[v])))
        self.label: dict[int, dict[int, int]] = {t: {} for t in self.order}
        self.first: dict[int, set[int]] = defaultdict(set)
        self.added: list[Link] = []
        self.missing = self.size = 0
        for u, v in removed:
            search.remove(u, v)
            for t in sorted(self.topics[u] & self.topics[v]):
                one, other = search.component(u, t), search.component(v, t)
                if v in one:
                    continue
                part = one if sum(one.values()) + len(one) <= sum(other.values()) + len(other) else other
                self.missing += 1
                self.size += len(part)
                for x in part:
                    self.label[t][x] = self.missing
                    self.first[x].add(t)

    def contribution(self, a: int, b: int) -> int:
        common = self.topics[a] & self.topics[b] if a != b else ()
        return sum(self.label[t].get(a, 0) != self.label[t].get(b, 0) for t in common if t in self.label)

    def number_of(self, x: int) -> int:
        return sum(self.label[t].get(x, 0) != 0 for t in self.first[x])

    def merge(self, a: int, b: int) -> None:
        self.missing -= self.contribution(a, b)
        self.added.append((a, b))
        for t in self.topics[a] & self.topics[b] & self.label.keys():
            one, other = self.label[t].get(a, 0), self.label[t].get(b, 0)
            for x, its in self.label[t].items():
                if its in (one, other):
                    self.label[t][x] = min(one, other)


def _link(ends: Link) -> Link:
    return min(ends), max(ends)
