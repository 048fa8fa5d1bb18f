"""All designers by name: the one place that Python, the command line, experiments and benchmarks choose from.

Other packages add theirs as entry points of the group `topicloom.designers`: see docs/extending.md.
"""

from __future__ import annotations

from topicloom.algorithms import Registry
from topicloom.designers.backbone import backbone
from topicloom.designers.base import Designer
from topicloom.designers.baselines import random_a, random_m, ring_per_topic, spidercast, spidercast_m
from topicloom.designers.greedy import gm, gm_fold, gpa, gpm, low_oda, minmax_oda
from topicloom.designers.optimal import exact
from topicloom.designers.stars import cd_oda, cd_oda_1, cd_oda_2
from topicloom.designers.trees import tree

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
)

DESIGNERS: Registry[Designer] = Registry(
    Designer, (module.DESIGNER for module in _MODULES), group="topicloom.designers"
)


def find_designer(name: str) -> Designer:
    """The designer of that name; an unknown name is an error that lists the known ones."""
    return DESIGNERS.find(name)
