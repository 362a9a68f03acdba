#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gantry-cli exports, others read: ONNX passes onnx.checker and gives in onnxruntime what gantry-cli computes, StableHLO is
parsed by the dialect itself and gives it in XLA. Runs under a Python that has them, which GANTRY_PEER_PYTHON names; skips where
there is none. Models named on the command line are checked in place of the usual ones: MODEL[@PASS][,NAME=SIZE...]."""
import json
import os
import subprocess
import sys
import tempfile

peer = os.environ.get("GANTRY_PEER_PYTHON")
if "--child" not in sys.argv:
    if not peer or subprocess.run([peer, "-c", "import jax, onnx, onnxruntime"], capture_output=True).returncode != 0:
        print("1..0 # SKIP GANTRY_PEER_PYTHON names no Python with JAX, onnx and onnxruntime")
        sys.exit(0)
    sys.exit(subprocess.run([peer, __file__, "--child"] + sys.argv[1:]).returncode)

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy as np
import onnx
import onnxruntime
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

root = os.environ.get("GANTRY_SOURCE_ROOT", ".")
cli = os.path.join(os.environ.get("GANTRY_BUILD_ROOT", "build"), "app", "gantry-cli")
shared = os.environ.get("GANTRY_SHARED", os.path.join(root, "..", "shared"))

own = ["data/models/sample.onnx", "data/models/sample.onnx@dce-2", "data/programs/mlp.gir", "data/programs/lstm.gir",
       "data/programs/convnet.gir@dce-2", "data/programs/layers-tiny.gir", "data/programs/transformer-tiny.gir",
       "data/programs/transformer-tiny.gir@dce-2", "data/programs/while.mlir", "tests/fixtures/models/few-elements.gir"]
others = ["onnx/mnist.onnx", "onnx/mnist.onnx@dce-2", "onnx/gonnx_gru.onnx,batch_size=1,seq_length=4", "onnx/nnfusion_gru_bidirectional.onnx",
          "onnx/fastestdet.onnx@legalize", "stablehlo/fullyconnected.mlir"]

types = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def call(*arguments):
    done = subprocess.run([cli, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(arguments) + ": " + done.stderr.strip())
    return done.stdout


def make_inputs(model, dims):
    """A list of (name, array)."""
    inputs = []
    random = np.random.RandomState(1)
    for value in json.loads(call("info", "--json", *dims, model))["inputs"]:
        element, shape = value["type"].partition("@")[0].rstrip("]").split("[")
        shape = [int(d) for d in shape.split(",") if d]
        if element.startswith("f"):
            array = random.uniform(-1, 1, shape)
        else:
            array = random.randint(0, 2, shape)
        inputs.append((value["name"], np.asarray(array).astype(types[element])))
    return inputs


def run_own(model, dims, inputs, folder):
    arguments = []
    for i, (name, array) in enumerate(inputs):
        path = os.path.join(folder, f"input_{i}.npy")
        np.save(path, array)
        arguments += ["-i", path]
    results = os.path.join(folder, "results")
    os.makedirs(results, exist_ok=True)
    call("run", "--runs=1", "--warmup=0", f"--output-dir={results}", *dims, *arguments, model)
    return [np.load(os.path.join(results, f"output_{i}.npy")) for i in range(len(os.listdir(results)))]


def run_onnx(path, inputs):
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    known = {value.name for value in [*session.get_inputs(), *session.get_overridable_initializers()]}
    feeds = {name: array for name, array in inputs}
    assert known == set(feeds), (known, set(feeds))
    return session.run(None, feeds)


def run_xla(path, inputs):
    """Parses by the dialect, verifies, compiles by XLA's client."""
    backend = xla_bridge.get_backend()
    context = mlir.make_ir_context()
    with context, ir.Location.unknown(context):
        module = ir.Module.parse(open(path).read())
        module.operation.verify()
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with jax.enable_x64(True):
        program = backend.compile_and_load(module, xla_client.DeviceList(tuple(backend.local_devices()[:1])), options)
        arrays = [jax.device_put(array) for _, array in inputs]
        results = program.execute_sharded(arrays).disassemble_into_single_device_arrays()
    return [np.array(result[0]) for result in results]


def compare(what, results, expected):
    assert len(results) == len(expected), (what, len(results), len(expected))
    for i, (a, b) in enumerate(zip(results, expected)):
        assert a.shape == b.shape, (what, i, a.shape, b.shape)
        limit = (1e-2 if b.dtype == np.float16 else 1e-4) * max(1.0, float(np.abs(b.astype(np.float64)).max(initial=0)))
        away = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0))
        assert away <= limit, f"{what}: output {i} is {away:g} away"


def check(spec):
    model, *bindings = spec.split(",")
    model, _, after = model.partition("@")
    dims = [f"--dim={binding}" for binding in bindings]
    with tempfile.TemporaryDirectory() as folder:
        inputs = make_inputs(model, dims)
        expected = run_own(model, dims, inputs, folder)
        path = os.path.join(folder, "x.onnx")
        call("export", *dims, *([f"--snapshot={after}"] if after else []), "-o", path, model)
        compare("onnxruntime", run_onnx(path, inputs), expected)
        path = os.path.join(folder, "x.mlir")
        call("export", *dims, *([f"--snapshot={after}"] if after not in ("", "import") else []), "-o", path, model)
        compare("XLA", run_xla(path, inputs), expected)


onnxruntime.set_default_logger_severity(4)
models = [argument for argument in sys.argv[2:]]
if not models:
    models = [os.path.join(root, name) for name in own]
    models += [path for path in (os.path.join(shared, "data", name) for name in others) if os.path.exists(path.split(",")[0].split("@")[0])]
print(f"1..{len(models)}")
failed = False
for number, name in enumerate(models, 1):
    try:
        check(name)
        print(f"ok {number} {os.path.basename(name)}", flush=True)
    except Exception as error:
        failed = True
        print(f"not ok {number} {os.path.basename(name)}")
        print("# " + str(error).replace("\n", "\n# ")[:600], flush=True)
sys.exit(failed)
