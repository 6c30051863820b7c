# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Measures CRISP (github.com/uber-research/CRISP) on one trace: crisp.py CHECKOUT SPANS

The trace is a tree of calls, four from each call but the innermost, one after the other. Prints the CPU time of the critical path and of
the savings in nanoseconds a span. Loading the trace is not included.
"""

import json
import logging
import sys
import time

checkout, spans = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, checkout)
logging.disable(logging.CRITICAL)

from crisp.graph import Graph  # noqa: E402 (its folder is an argument)

CALLS = 4


def trace():
    """Returns a trace in the form of Jaeger's JSON; times are in microseconds."""
    depth, total = 0, 1
    while total < spans:
        depth += 1
        total += CALLS**depth
    out = []

    def add(parent, start, duration, level):
        name = "s%d" % len(out)
        out.append({
            "traceID": "t", "spanID": name, "operationName": "op%d" % level, "startTime": start, "duration": duration, "processID": "p",
            "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": parent}] if parent else [],
            "tags": [], "logs": [], "warnings": None,
        })
        if level < depth and len(out) < spans:
            part = duration // CALLS
            for i in range(CALLS):
                add(name, start + i * part, part - 1, level + 1)

    add(None, 0, 1000 * (CALLS + 1) ** depth, 0)
    return {"data": [{"traceID": "t", "spans": out, "processes": {"p": {"serviceName": "svc", "tags": []}}}]}, len(out)


def ns(fn, count):
    """Returns the CPU time of a call in nanoseconds a span, the least of three."""
    best = None
    for _ in range(3):
        begin = time.process_time_ns()
        fn()
        took = time.process_time_ns() - begin
        best = took if best is None else min(best, took)
    return best / count


data, count = trace()
graph = Graph(json.loads(json.dumps(data)), "svc", "op0", filename="")
root = graph.rootNode
print("path", ns(lambda: graph.computeCriticalPath(root), count))
print("saved", ns(graph.computeTimeSaved, count))
