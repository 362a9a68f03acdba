#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models of others as HLO and StableHLO text, with made-up weights: what gantry-cli computes, on the processor and on the
schedules made for GPUs, has to be within 1e-3 of what XLA's own client computes from the same text: the norm of the difference as a part
of the norm, of each output. Runs under a Python that has JAX, which GANTRY_PEER_PYTHON names; skips where there is none, or no models.

check-models.py [NAME...] runs some: bert dlrm resnet50 mobilenet"""
import json
import os
import re
import subprocess
import sys
import tempfile

peer = os.environ.get("GANTRY_PEER_PYTHON")
root = os.environ.get("GANTRY_SOURCE_ROOT", ".")
shared = os.path.join(os.environ.get("GANTRY_SHARED", os.path.join(root, "..", "shared")), "data")
if "--child" not in sys.argv:
    if not peer or subprocess.run([peer, "-c", "import jax, jaxlib._hlo"], capture_output=True).returncode != 0:
        print("1..0 # SKIP GANTRY_PEER_PYTHON names no Python with JAX")
        sys.exit(0)
    if not os.path.isdir(os.path.join(shared, "hlo")):
        print("1..0 # SKIP GANTRY_SHARED names no folder with data/hlo")
        sys.exit(0)
    sys.exit(subprocess.run([peer, __file__, "--child"] + sys.argv[1:]).returncode)

os.environ["JAX_PLATFORMS"], os.environ["TF_CPP_MIN_LOG_LEVEL"] = "cpu", "2"
import jax
import jaxlib._hlo as hlo
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _jax
from jaxlib.mlir import ir

cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
TYPES = {"bool": np.bool_, "i32": np.int32, "i64": np.int64, "u32": np.uint32, "f32": np.float32}


def bert(text):
    """Its weights are globals of another dialect, each of one number: they become arguments of the function, what the test beside it
    expects goes, and what that was asked of is returned. Its inputs are 1, not 0: no word is masked, which would move all scores by
    -10000, where floats are 0.001 apart."""
    text = re.sub(r"(?m)^ *util\.global private .*\n|^.* = util\.global\.address .*\n", "", text)
    text = text.replace("util.unfoldable_constant dense<0>", "stablehlo.constant dense<1>")
    loads = re.findall(r"(?m)^ *(%\w+) = util\.global\.load\.indirect .* -> (tensor<.*>)$", text)
    text = re.sub(r"(?m)^.* = util\.global\.load\.indirect .*\n", "", text)
    checks = re.findall(r"check\.expect_almost_eq_const\((%\w+), .*\) : (tensor<[^>]*>)\n", text)
    text = re.sub(r"(?m)^ *check\.expect_almost_eq_const.*\n", "", text)
    renamed = {name: "%%w%d" % i for i, (name, _) in enumerate(loads)}
    text = re.sub(r"%\w+", lambda m: renamed.get(m.group(), m.group()), text)
    text = re.sub(r"func\.func @\w+\(\)[^{]*\{[^}]*\} \{", "func.func @main(%s) -> (%s) {" % (
        ", ".join("%s: %s" % (renamed[name], kind) for name, kind in loads), ", ".join(kind for _, kind in checks)), text)
    return re.sub(r"(?m)^ *return$", "return %s : %s" % (", ".join(n for n, _ in checks), ", ".join(k for _, k in checks)), text)


def dlrm(text):
    """The text leaves the pairs of features out that are multiplied: those below the diagonal of six."""
    return text.replace("s32[15]{0} constant({...})", "s32[15]{0} constant({%s})" % ", ".join(
        str(6 * i + j) for i in range(6) for j in range(i)))


def of_today(text):
    """Lists of numbers as the dialect writes them today."""
    def array(m):
        numbers, n = m.group(1).strip("[]").split(", "), int(m.group(2))
        return "array<i64: %s>" % ", ".join(numbers * n if len(numbers) < n else numbers)
    return re.sub(r"(?<== )dense<([^<>]*)> : tensor<(\d+)xi64>(?=[,}])", array, text)


SIZES = {"224": "32", "112": "16", "56": "8", "28": "4", "14": "2", "7": "1"}


def mobilenet(text):
    """Images of 32 x 32 in place of 224 x 224, so that the step fits in double precision too. No other size is one of these numbers."""
    text = re.sub(r"\b(224|112|56|28|14|7),\1\b", lambda m: ",".join([SIZES[m.group(1)]] * 2), text)
    return re.sub(r"\bsize=(224|112|56|28|14|7)x\1\b", lambda m: "size=" + "x".join([SIZES[m.group(1)]] * 2), text)


def mobilenet_double(text):
    """The same in double precision, but for the bits of the dropout, which are those of single precision."""
    lines = text.split("\n")
    lines[0] = lines[0].split(",")[0]
    for i, line in enumerate(lines):
        if "aten__bernoulli" in line or ("dropout@" in line and ("aten__expand" in line or "parameter(315)" in line)):
            lines[i] = line.replace("f32", "f64", 1) if "convert(pred" in line else line
        elif "%broadcast.2322 =" in line:
            lines[i] = re.sub("= .*?, metadata", "= f64[96,1280]{1,0} convert(f32[96,1280]{1,0} %broadcast.2054), metadata", line)
        else:
            lines[i] = line.replace("f32", "f64").replace("p315.2045: f64", "p315.2045: f32")
    return "\n".join(lines)


def mobilenet_weights(text):
    """Rectifiers whose decisions no rounding moves: what is normalized lies between 0 and 6, six deviations from either. A decision that is open,
    of a million, moves all gradients by parts of a thousand, whoever computes them."""
    offsets = set(re.findall(r"batch-norm-training\(.*?%.*?, .*? %.*?, .*? %(p\d+)\.", text))
    scalars = {"p12": 6, "p314": 96000, "p315": 0.8, "p317": 1}

    def make(name, shape, random):
        number = name.split(".")[0]
        if number in scalars:
            return np.float32(scalars[number])
        if number in offsets:
            return np.full(shape, 3)
        if len(shape) < 2:
            return random.uniform(0.4, 0.5, shape)
        return random.randn(*shape) * (1 if shape[:2] == [96, 3] else (2 / np.prod(shape[1:])) ** 0.5)
    return make


def make_resnet50(name, shape, random):
    """Means near 0, variances about 1 and scales below it, or the sums of sixteen blocks grow until the softmax is 1 and 0 whatever
    was computed."""
    if len(shape) < 2:
        kind, number = (int(part) for part in re.findall(r"\d+", name)[:2])
        return random.uniform(*((0.2, 0.5) if kind == 0 else (0.5, 1.5) if number % 2 else (-0.2, 0.2)), shape)
    return random.randn(*shape) * (1 if "data" in name else (2 / np.prod(shape[:-1])) ** 0.5)


# What is also run in double precision: what the next normalization subtracts again has the gradient 0, and what single precision says of it
# is nothing but rounding, XLA's too: that has to be of the size of XLA's. Otherwise what is further than 1e-3 from XLA's single
# precision may be no further from its double precision than twice what that is.
DOUBLE = {"mobilenet": (mobilenet_double, mobilenet_weights)}

# name: file, what makes a program of it, scales and biases (or what makes a value of floats, given its name and shape), how many numbers
# the table has that an index of that name reads.
# BERT here has a scale where others divide by the variance: larger ones would grow without bounds.
MODELS = {
    "bert": ("stablehlo/bert_encoder_unrolled_fake_weights.mlir", bert, (0.1, 0.6), {}),
    "dlrm": ("hlo/dlrm_keras_jax_f32_train_step.hlo", dlrm, (0.5, 1.5),
             {"movie_id": 1682, "user_gender": 2, "user_id": 943, "user_occupation": 21, "user_zip_code": 795, "hour": 4}),
    "resnet50": ("hlo/resnet50_keras_jax_f32.hlo", None, make_resnet50, {}),
    "mobilenet": ("hlo/mobilenet_v2.hlo", mobilenet, None, {}), # weights: DOUBLE
}


def make_value(value, scales, tables, random):
    """Weights that keep numbers of the size that they have, scales and variances above 0, state of an optimizer too."""
    element, dims = value["type"].partition("@")[0].rstrip("]").split("[")
    shape, name = [int(d) for d in dims.split(",") if d], value["name"]
    if not element.startswith("f"):
        limit = next((n for part, n in tables.items() if part in name), 1)
        return random.randint(0, limit, shape).astype(TYPES[element])
    if callable(scales):
        return np.asarray(scales(name, shape, random), TYPES[element])
    if name.startswith("state_2_"):
        return random.uniform(0.001, 0.01, shape).astype(TYPES[element])
    if len(shape) < 2:
        return random.uniform(*scales, shape).astype(TYPES[element])
    fan = np.prod(shape) / max(shape[0], shape[-1])
    return (random.randn(*shape) * min(1.0, (2 / fan) ** 0.5)).astype(TYPES[element])


def call(*arguments):
    done = subprocess.run([cli, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-2000:])
    return done.stdout


def run_own(path, inputs, folder, device):
    command = ["run", path, "-n", "1", "--warmup", "0", "--quick-compile", "--device", device, "--output-dir", folder]
    for name in inputs:
        command += ["--input", name]
    call(*command)
    return [np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder), key=lambda n: int(re.search(r"\d+", n).group()))]


def run_xla(path, text, arrays):
    backend = xla_bridge.get_backend()
    context = mlir.make_ir_context()
    with context, ir.Location.unknown(context):
        if path.endswith(".hlo"):
            text = _jax.mlir.hlo_to_stablehlo(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        module = ir.Module.parse(text if path.endswith(".hlo") else of_today(text))
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with jax.enable_x64(True):
        program = backend.compile_and_load(module, xla_client.DeviceList(tuple(backend.local_devices()[:1])), options)
        results = program.execute_sharded([jax.device_put(a) for a in arrays]).disassemble_into_single_device_arrays()
    return [np.array(result[0]) for result in results]


def away(a, b):
    """(The norm of the difference as a part of the norm, the largest difference as a part of the largest element.) A relu whose argument
    is nearly 0 decides by rounding, which moves single rows of gradients: the first is held to 1e-3."""
    if a.shape != b.shape or a.dtype != b.dtype:
        raise AssertionError("%s%s in place of %s%s" % (a.dtype, a.shape, b.dtype, b.shape))
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert np.isfinite(a).all() and np.isfinite(b).all(), "not all elements are finite"
    size, largest = np.linalg.norm(b) or 1e-30, np.abs(b).max(initial=0) or 1e-30
    return float(np.linalg.norm(a - b) / size), float(np.abs(a - b).max(initial=0) / largest)


def size(a):
    return float(np.linalg.norm(a.astype(np.float64)))


def devices(name):
    """A training step of 96 images takes minutes on schedules for GPUs that run on the processor: `check-models.py mobilenet --grid`."""
    return ("cpu", "grid") if name not in DOUBLE or "--grid" in sys.argv else ("cpu",)


def check(name, folder):
    file, change, scales, tables = MODELS[name]
    path = os.path.join(shared, file)
    with open(path) as opened:
        text = opened.read()
    if change is not None:
        text, path = change(text), os.path.join(folder, os.path.basename(file))
        with open(path, "w") as opened:
            opened.write(text)
    if name in DOUBLE:
        scales = DOUBLE[name][1](text)
    random = np.random.RandomState(1)
    about = json.loads(call("info", "--json", path))
    arrays = [make_value(value, scales, tables, random) for value in about["inputs"]]
    inputs = [os.path.join(folder, "in%d.npy" % i) for i in range(len(arrays))]
    for input, array in zip(inputs, arrays):
        np.save(input, array)
    expected = run_xla(path, text, arrays)
    exact = None
    if name in DOUBLE:
        exact = run_xla(path, DOUBLE[name][0](text), [
            a.astype(np.float64) if a.dtype == np.float32 and "p315." not in value["name"] else a for a, value in zip(arrays, about["inputs"])])
    for device in devices(name):
        made = os.path.join(folder, device)
        os.mkdir(made)
        try:
            results = run_own(path, inputs, made, device)
            assert len(results) == len(expected), "%d outputs in place of %d" % (len(results), len(expected))
            farthest = [away(a, b) for a, b in zip(results, expected)]
            rounding = [i for i, value in enumerate(exact or []) if farthest[i][0] > 1e-3
                        and (size(value) < 1e-5 * size(expected[i]) and size(results[i]) < 32 * size(expected[i])
                             or size(results[i] - value) <= 2 * size(expected[i] - value))]
            wrong = [i for i, (norm, _) in enumerate(farthest) if norm > 1e-3 and i not in rounding]
            for i in wrong[:10]:
                print("# output %d, %s: %g" % (i, about["outputs"][i]["name"], farthest[i][0]))
                if exact is not None:
                    print("#   from double precision: %g, XLA's %g" % tuple(
                        size(v - exact[i]) / (size(exact[i]) or 1e-30) for v in (results[i], expected[i])))
            farthest = [far for i, far in enumerate(farthest) if i not in rounding]
            yield device, not wrong, "%d outputs, at most %.2g away, single elements %.2g; %d are rounding alone" % (
                len(results), max(n for n, _ in farthest), max(m for _, m in farthest), len(rounding))
        except (RuntimeError, AssertionError) as error:
            yield device, False, str(error).replace("\n", "\n# ")


names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(MODELS)
print("1..%d" % sum(len(devices(name)) for name in names))
number, failed = 0, 0
for name in names:
    with tempfile.TemporaryDirectory() as folder:
        for device, good, words in check(name, folder):
            number += 1
            failed += not good
            print("%s %d - %s on %s\n# %s" % ("ok" if good else "not ok", number, name, device, words), flush=True)
sys.exit(failed != 0)
