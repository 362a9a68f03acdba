# SPDX-License-Identifier: Apache-2.0
"""The list of models: what they are called, how they are made, and what they read.

A model is registered with @model (NAME, ...) on a function that returns the network and a function from a batch size to its
inputs. Everything is small: images of 32 to 96 pixels, a few channels, one block where the original has six; the graph keeps its
shape. Libraries that are not installed leave their models out, by name."""
import dataclasses
import fnmatch
import hashlib
import importlib
from typing import Callable

# What a name begins with, and the file that makes it.
ROOMS = {"torchvision": "zoo_torchvision", "timm": "zoo_timm", "transformers": "zoo_transformers", "segmentation": "zoo_segmentation",
         "diffusers": "zoo_diffusers", "networks": "zoo_networks", "sequences": "zoo_sequences", "jax": "zoo_jax"}
MODELS = {}
# One model in ten is not looked at while faults are searched for.
HELD_OUT = 10


@dataclasses.dataclass
class Model:
    name: str
    make: Callable  # () -> (network, (batch) -> tuple of inputs)
    exporter: str = ""  # "script", "dynamo" or "jax"; "": by turns
    opset: int = 0      # 0: by turns
    loss: str = ""      # "mse" or "softmax-cross-entropy"; "": by turns
    output: int = 0     # that the loss is made of
    batches: tuple = (1, 2, 3)

    def turn(self, n):
        """A number below n that depends on the name alone."""
        return int(hashlib.sha256(self.name.encode()).hexdigest()[:8], 16) % n

    @property
    def held_out(self):
        return self.turn(HELD_OUT) == 0


def model(name, **options):
    def register(make):
        assert name not in MODELS, name
        MODELS[name] = Model(name, make, **options)
        return make
    return register


def load(globs=("*",)):
    """The models whose names match, and why some rooms are empty. Opens no library that none of them needs."""
    missing = {}
    for prefix, room in ROOMS.items():
        if any(fnmatch.fnmatch(prefix, glob.partition("/")[0]) for glob in globs):
            try:
                importlib.import_module(room)
            except ImportError as why:
                missing[prefix] = str(why)
    return {name: m for name, m in MODELS.items() if any(fnmatch.fnmatch(name, glob) for glob in globs)}, missing
