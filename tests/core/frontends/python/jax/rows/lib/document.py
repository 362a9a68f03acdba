# SPDX-License-Identifier: Apache-2.0
"""The programs of the document on host offloading, as they are written."""
import contextlib
import io
import os
import re

_HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("GANTRY_SHARED") or os.path.join(_HERE, "..", "..", "..", "..", "..", "..", "..", "..", "shared")
FOLDER = os.path.join(SHARED, "conformance", "host-offloading")
MIB = 1 << 20
SAMPLE = 3.8312389e-07


def text_of(number):
    name = next(n for n in sorted(os.listdir(FOLDER)) if n.startswith(number) and n.endswith(".py"))
    with open(os.path.join(FOLDER, name)) as file:
        return name, file.read()


def expected(number):
    name, _ = text_of(number)
    with open(os.path.join(FOLDER, name[:-3] + ".expected")) as file:
        return file.read().strip()


def run(*numbers, replace=()):
    """Runs the programs one after another in one namespace. Returns: it, and what the last one printed."""
    names, printed = {"__name__": "__main__"}, None
    for number in numbers:
        name, text = text_of(number)
        for old, new in replace:
            text = text.replace(old, new)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, name, "exec"), names)
    return names, printed.getvalue().strip()


def figures(printed):
    """The sizes that a program printed, by their names."""
    return {name: float(value) for name, value in re.findall(r"^(\w+) size: ([0-9.]+) [MG]B$", printed, re.M)}


def sample(printed):
    return [float(v) for v in re.search(r"Sample of results:\s+\[(.*)\]", printed).group(1).split()]


def check_sample(printed):
    values = sample(printed)
    assert len(values) == 5 and all(abs(v - SAMPLE) <= 1e-5 * SAMPLE for v in values), values


def check_layers(printed, temp, argument):
    """Arguments are exact, temporaries at most those of the document's compiler, and less; the results are 20 MiB."""
    sizes = figures(printed)
    assert sizes["Argument"] == argument, sizes
    assert 0 < sizes["Temp"] <= temp, sizes
    assert abs(sizes["Total"] - (sizes["Temp"] + argument + 20)) < 0.011, sizes
    return sizes


def check_optimizer(printed, document):
    """The same lines; arguments are exact, temporaries and totals at most those of the document's compiler."""
    lines, others = printed.split("\n"), document.split("\n")
    assert len(lines) == len(others) and len(lines) % 3 == 0, printed
    for i, (line, other) in enumerate(zip(lines, others)):
        name, value, unit = re.fullmatch(r"(\w+) size: ([0-9.]+) ([MG]B)", line).groups()
        other_name, most, other_unit = re.fullmatch(r"(\w+) size: ([0-9.]+) ([MG]B)", other).groups()
        assert (name, unit) == (other_name, other_unit), line
        assert value == most if name == "Argument" else 0 < float(value) <= float(most), (line, other)


# Optimizer: the graph is planned without arrays of the size that the document has

PLANNED = (("input = jnp.ones((DIM, DIM))", "input = jax.ShapeDtypeStruct((DIM, DIM), jnp.float32)"),
           ("jnp.ones((DIM, DIM)) for i", "jax.ShapeDtypeStruct((DIM, DIM), jnp.float32) for i"))


def planned_step(offloaded, changed=""):
    """memory_analysis () of the step of 011 or 012 at full width, from shapes alone. @changed: run before the step is made"""
    names, _ = run("001", "011", replace=[("7168", "64")])
    exec(changed, names)
    if offloaded:
        _, text = text_of("012")
        exec(text, names)
    import jax
    jnp, n = jax.numpy, 7168
    host = names["s_host"] if offloaded else None

    def wide(x, place):
        return jax.ShapeDtypeStruct((n, n) if x.shape else (), x.dtype, sharding=place)
    params = jax.tree.map(lambda x: wide(x, None), names["params"])
    state = jax.tree.map(lambda x: wide(x, host), names["opt_state"])
    return names["step"].lower(params, state, wide(names["input"], None)).compile().memory_analysis()
