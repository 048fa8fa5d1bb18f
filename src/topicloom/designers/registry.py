"""All designers by name: the one place that Python, the command line, experiments and benchmarks choose from.

Other packages add theirs as entry points of the group `topicloom.designers`: see docs/extending.md.
"""

from __future__ import annotations

from topicloom.designers import (
    backbone,
    cd_oda,
    cd_oda_1,
    cd_oda_2,
    exact,
    gm,
    gm_fold,
    gpa,
    gpm,
    low_oda,
    minmax_oda,
    random_a,
    random_m,
    ring_per_topic,
    search,
    spidercast,
    spidercast_m,
    tree,
)
from topicloom.designers.contract import Designer
from topicloom.registry import Registry

_MODULES = (
    gm,
    minmax_oda,
    low_oda,
    gpa,
    gpm,
    cd_oda,
    cd_oda_1,
    cd_oda_2,
    ring_per_topic,
    spidercast,
    spidercast_m,
    random_a,
    random_m,
    gm_fold,
    exact,
    backbone,
    tree,
    search,
)

DESIGNERS: Registry[Designer] = Registry(
    Designer, (module.DESIGNER for module in _MODULES), group="topicloom.designers"
)
