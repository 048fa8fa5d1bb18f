"""Search: ruin and recreate from any overlay."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.algorithms import Watch
from topicloom.kernels.local_search import (
    BEST_COST, BEST_LINKS, BEST_SQUARES, COST, KEPT, ROUNDS, Instance, Progress, Schedule, Workspace, best_links, search_rounds,
)
from topicloom.kernels.neighbours import LINKS, SQUARES, list_links, new_neighbours
from topicloom.kernels.recreating import Limits, new_heap, new_ruin
from topicloom.kernels.ruins import new_kinds
from topicloom.kernels.splits import MOST_REMOVED, new_parts, new_sides
from topicloom.kernels.subscriptions import nearest_nodes, new_subscriptions
from topicloom.model.constraints import UNLIMITED, ConstraintArrays
from topicloom.model.interest import Ids, Interest
from topicloom.model.prices import PriceArrays
import os
NEAREST = int(os.environ.get("NEAR", "40"))
JOURNAL = 1 << 16


class SearchResult(NamedTuple):
    source: Ids
    target: Ids
    facts: dict


def search_links(interest, source, target, *, limits=None, prices=None, fixed=None, max_degree=None, aim="links", seconds=None, rounds=None, seed=0, watch=None, temps=(0.15,0.05,6.0,1.0), chunk=1000):
    watch = watch or Watch()
    n = interest.node_count
    most = np.full(n, UNLIMITED, np.int32)
    if max_degree: most[:] = max_degree
    neighbours = new_neighbours(n, source.astype(np.int32), target.astype(np.int32), np.zeros(len(source), np.bool_))
    subs = new_subscriptions(interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes)
    t0=time.time()
    nearest = nearest_nodes(subs, NEAREST, np.uint64(seed))
    tn=time.time()-t0
    zero = np.zeros(n, np.int32)
    lim = Limits(most, zero, np.ones((1,1),np.bool_), zero, np.zeros((0,0),np.int64), np.zeros(0,np.int64), 1.0)
    inst = Instance(subs, lim, nearest)
    space = Workspace(new_ruin(2*MOST_REMOVED), new_parts(n, interest.topic_count), new_sides(n), new_heap(NEAREST))
    count = np.zeros(8, np.int64)
    count[COST]=count[BEST_COST]=count[BEST_LINKS]=len(source); count[BEST_SQUARES]=neighbours.total[SQUARES]
    progress = Progress(np.array([seed],np.uint64), new_kinds(), count, np.zeros(JOURNAL,np.int32), neighbours._replace(node=np.zeros_like(neighbours.node), degree=np.zeros_like(neighbours.degree), total=np.zeros(2,np.int64)))
    search_rounds(inst, neighbours, space, Schedule(*temps, 0.0,0.0,0,1.0), progress, 0, watch.ticks)
    cpu0=time.process_time(); spent=0.0; hist=[]
    per = 5e-5
    while True:
        spent = time.process_time()-cpu0
        if seconds is not None:
            if spent >= seconds: break
            todo = int(max(10, min(0.1, seconds-spent)/per))
            sched = Schedule(*temps, spent/seconds, per/seconds, int(count[ROUNDS]), 1.0)
        else:
            todo = min(chunk, rounds-int(count[ROUNDS]))
            if todo<=0: break
            sched = Schedule(*temps, 0.0, 1.0/rounds, 0, 1.0)
        c=time.process_time()
        search_rounds(inst, neighbours, space, sched, progress, todo, watch.ticks)
        if len(hist) < 12*(spent/(seconds or 1e9)): hist.append(int(count[COST]))
        per = (time.process_time()-c)/todo
    best_links(progress, neighbours)
    best = progress.best
    m=int(count[BEST_LINKS])
    s=np.zeros(m,np.int32); t=np.zeros(m,np.int32)
    got=list_links(best,s,t)
    assert got==m,(got,m)
    return SearchResult(s,t,dict(rounds=int(count[ROUNDS]),kept=int(count[KEPT]),near=tn,us=1e6*spent/max(1,int(count[ROUNDS])),hist=hist,share=np.diff(np.concatenate([[0],progress.kinds.share])).round(3).tolist(),deg=int(best.degree.max()),links=m,sq=int(count[BEST_SQUARES])))
