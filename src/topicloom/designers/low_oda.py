"""Low-ODA: Low 2010, section III.

Rule: e1 is the link that `minmax-oda` would add, e2 the one that `gm` would; add e1 if it contributes at least 1/k of
what e2 does, as algorithm 1 has it, else e2. With `strict` it must contribute more than that, as the text says.

Guarantee: topic-connected; links within O(k log(subscriptions)) of the fewest, highest degree within
O((nodes/k) log(subscriptions)) of the lowest (Theorems 1 and 2). With k = 1 every link added contributes as
much as any could, and with `strict` is that of `gm`; with large k the links are those of `minmax-oda`.

Cost: between `gm` and `minmax-oda`. The exact contribution of e2 is sought only where its bound would win.

Symbols: w(e) is the contribution of e.
"""

from __future__ import annotations

from topicloom.designers.contract import TIES
from topicloom.designers.greedy import greedy_designer
from topicloom.registry.parameters import Parameter

DESIGNER = greedy_designer(
    name="low-oda",
    paper="Low 2010, section III",
    rule="the link of minmax-oda if it contributes at least 1/k of that of gm, else that of gm",
    guarantee="links within O(k log(subscriptions)), highest degree within O((nodes/k) log(subscriptions)) of the best",
    evenly=True,
    choices=lambda given: {"patience": float(given["k"]), "strict": given["strict"]},
    parameters=(
        Parameter("k", float, "how much more a link must contribute to be worth a higher degree", 3),
        Parameter("strict", bool, "whether exactly k times as much is worth a higher degree, too", False),
        TIES,
    ),
)
