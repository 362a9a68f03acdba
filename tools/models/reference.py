# SPDX-License-Identifier: Apache-2.0
"""What PyTorch or JAX computes: outputs, the loss, the gradient of every weight, in double precision; and how far rounding moves
each of them.

How far is found by doing it again: once in single precision, and a few times in double precision with every weight and input moved
by a random part of one rounding; where that is not enough, with the result of every operation moved so. A tensor that moves much when its causes are rounded (a sum that cancels, a relu near its kink) is
allowed to differ as much; one that does not move is held to a few roundings."""
import copy
import types

import numpy as np

EPSILON = 2.0 ** -24  # half a unit in the last place of 1: the largest relative error of one rounding of f32
PERTURBATIONS = 2


def moved(arrays, seed, size):
    """Every floating point element times 1 + u, |u| <= size."""
    random = np.random.default_rng(seed)
    return [a * (1 + random.uniform(-size, size, a.shape)) if a.dtype.kind == "f" else a for a in arrays]


class Torch:
    """A network of PyTorch in evaluation mode; its parameters by name, each once."""

    def __init__(self, network, seed):
        import torch
        self.torch, self.network = torch, network.eval()
        self.watch = None  # (nullable): a kinks.Watch that sees what has kinks
        self.rounding = None  # (nullable): seed of the roundings of what operations give in double precision
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
                self.vary(name, tensor)
            self.tell_apart(dict(network.named_parameters()).values())
        self.names = [name for name, p in network.named_parameters() if p.dtype == torch.float32]
        self.train_all(network)
        self.wide = copy.deepcopy(network).double()

    @staticmethod
    def train_all(network):
        """Also what a network keeps from being trained: in the file it is a weight like any other."""
        import torch
        network.requires_grad_(True)
        for module in network.modules():
            if isinstance(module, torch.nn.Embedding):
                module.padding_idx = None
            inner = getattr(type(module).forward, "__wrapped__", None)
            if inner is not None and type(module).__name__.endswith("SinusoidalPositionalEmbedding"):  # forward is under no_grad
                module.forward = types.MethodType(inner, module)

    @staticmethod
    def tell_apart(parameters):
        """Of equal weights (identities to begin with) exporters make one, whose gradient is the sum of theirs."""
        seen = set()
        for p in parameters:
            if p.numel() > 0 and p.detach().numpy().tobytes() in seen:
                p.mul_(p.new_empty(p.shape).uniform_(0.9, 1.1)).add_(p.new_empty(p.shape).uniform_(-0.01, 0.01))
            seen.add(p.detach().numpy().tobytes())

    def vary(self, name, tensor):
        """What starts as all zeros or all ones would hide mistakes."""
        if tensor.dtype != self.torch.float32 or tensor.numel() == 0 or tensor.min() != tensor.max():
            return
        if "running_mean" in name or tensor.flatten()[0] == 0 and "running_var" not in name:
            if not name.rpartition(".")[2].startswith("mask"):
                tensor.normal_(0, 0.1)
        elif "running_var" in name or name in dict(self.network.named_parameters()):
            tensor.uniform_(0.5, 1.5)

    def weights(self):
        parameters = dict(self.network.named_parameters())
        return [parameters[name].detach().numpy() for name in self.names]

    def outputs(self, inputs, weights, double=True, grad=False):
        torch = self.torch
        network = self.wide if double else self.network
        self.forget(network)
        kind = torch.float64 if double else torch.float32
        parameters = dict(network.named_parameters())
        with torch.no_grad():
            for name, value in zip(self.names, weights):
                parameters[name].copy_(torch.from_numpy(np.asarray(value)))
        tensors = [torch.from_numpy(np.asarray(a)) for a in inputs]
        tensors = [t.to(kind) if t.is_floating_point() else t for t in tensors]
        with torch.set_grad_enabled(grad), Doubled(double, self.watch):
            result = network(*tensors)
        return [result] if isinstance(result, torch.Tensor) else list(result)

    @staticmethod
    def forget(network):
        """What a network in evaluation mode keeps from its last call, computed from weights that were others then."""
        for module in network.modules():
            for name, kept in vars(module).items():
                if name.endswith("_cache") and isinstance(kept, dict):
                    kept.clear()

    def infer(self, inputs, weights, double=True):
        return [y.numpy() for y in self.outputs(inputs, weights, double)]

    def gradients(self, inputs, weights, loss, output, target, double=True):
        if self.rounding is None or not double:
            return self.exact_gradients(inputs, weights, loss, output, target, double)
        with Rounded(self.rounding):
            return self.exact_gradients(inputs, weights, loss, output, target, double)

    def exact_gradients(self, inputs, weights, loss, output, target, double):
        torch = self.torch
        y = self.outputs(inputs, weights, double, True)[output]
        with Doubled(double):
            value = self.loss_of(loss, y, torch.from_numpy(target))
        parameters = dict((self.wide if double else self.network).named_parameters())
        wanted = [parameters[name] for name in self.names]
        found = torch.autograd.grad(value, wanted, allow_unused=True)
        return value.item(), [np.zeros(p.shape) if g is None else g.numpy() for p, g in zip(wanted, found)]

    def loss_of(self, loss, y, target):
        if loss == "mse":
            return (y - target.to(y.dtype)).square().mean()
        return self.torch.nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]), target.reshape(-1).long())


def Doubled(double, watch=None):
    """Where a network asks for single precision by name ("norms are computed in float32"), double precision is given. Nothing is
    detached: a file cannot say so, and the gradients of the file are wanted. And batch norms get contiguous gradients: PyTorch
    2.15 takes the elements of one image for those of the next where the stride of a batch of 1 says nothing (outputs that were
    flattened and transposed), and the gradients of all before are wrong."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if watch is not None:
                args = watch.argument(func, args, kwargs)
            if func is torch.Tensor.detach:
                return args[0]
            if func is torch.nn.functional.batch_norm:
                made = func(*args, **kwargs)
                if made.requires_grad:
                    made.register_hook(lambda g: g.contiguous())
                return made
            if not double:
                return func(*args, **kwargs)
            if func is torch.Tensor.float:
                func = torch.Tensor.double
            if func is torch.Tensor.type_as and args[1].dtype == torch.float32:
                return args[0].double()
            args = tuple(torch.float64 if a is torch.float32 else a for a in args)
            kwargs = {k: torch.float64 if a is torch.float32 else a for k, a in kwargs.items()}
            made = func(*args, **kwargs)
            # What a network keeps in single precision (constants made by numpy) is widened where it is used.
            return made

    class Both:
        def __enter__(self):
            self.before = torch.get_default_dtype()
            if double:
                torch.set_default_dtype(torch.float64)
            self.mode = Mode()
            self.mode.__enter__()

        def __exit__(self, *why):
            self.mode.__exit__(*why)
            torch.set_default_dtype(self.before)

    return Both()


def Rounded(seed):
    """The result of every operation, forward and backward, times 1 + u, |u| <= EPSILON: as if each were rounded to single precision. A sum
    that is zero whatever the weights are (the gradient of a softmax's logits, summed) moves by nothing else."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    random = torch.Generator().manual_seed(seed)

    def round_one(x):
        if not isinstance(x, torch.Tensor) or x.dtype != torch.float64:
            return x
        return x * (1 + EPSILON * (2 * torch.rand(x.shape, generator=random, dtype=torch.float64) - 1))

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            # What only shows elements that are there, or writes to them, is no rounding.
            if any(r.alias_info is not None for r in func._schema.returns) or func._schema.is_mutable:
                return made
            return type(made)(round_one(x) for x in made) if isinstance(made, (tuple, list)) else round_one(made)

    return Mode()


class Jax:
    """A function of (weights, inputs...) of JAX, the weights a dictionary."""

    def __init__(self, function, weights):
        self.function, self.names = function, sorted(weights)
        self.values = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    def weights(self):
        return [self.values[name] for name in self.names]

    def call(self, weights, inputs):
        y = self.function(dict(zip(self.names, weights)), *inputs)
        return list(y) if isinstance(y, (tuple, list)) else [y]

    @staticmethod
    def cast(arrays, double):
        kind = np.float64 if double else np.float32
        return [np.asarray(a, kind) if np.asarray(a).dtype.kind == "f" else np.asarray(a) for a in arrays]

    def infer(self, inputs, weights, double=True):
        import jax
        with jax.enable_x64(double):
            return [np.asarray(y) for y in self.call(self.cast(weights, double), self.cast(inputs, double))]

    def gradients(self, inputs, weights, loss, output, target, double=True):
        import jax
        import jax.numpy as jnp

        def value(weights):
            y = self.call(weights, inputs)[output]
            if loss == "mse":
                return jnp.mean((y - target) ** 2)
            logs = jax.nn.log_softmax(y, -1)
            return -jnp.mean(jnp.take_along_axis(logs, target[..., None].astype(int), -1))

        with jax.enable_x64(double):
            inputs = self.cast(inputs, double)
            found, gradients = jax.value_and_grad(value)(self.cast(weights, double))
            return float(found), [np.asarray(g) for g in gradients]


def spread(compute, inputs, weights, n=PERTURBATIONS, first=0, size=EPSILON):
    """COMPUTE (inputs, weights, double) gives a list of arrays. Returns it in double precision, and by how much each array moves."""
    exact = [np.asarray(a) for a in compute(inputs, weights, True)]
    others = [compute(inputs, weights, False)]
    for i in range(first, first + n):
        both = moved([np.asarray(a, np.float64) if np.asarray(a).dtype.kind == "f" else a for a in [*inputs, *weights]], i, size)
        others.append(compute(both[:len(inputs)], both[len(inputs):], True))
    return exact, [max(largest(np.asarray(o[i], np.float64) - e) if o[i].shape == e.shape else np.inf for o in others)
                   if e.dtype.kind == "f" else 0.0 for i, e in enumerate(exact)]


def rounded_moves(reference, compute, inputs, weights, n):
    """By how much each array that COMPUTE gives moves when each operation rounds, at most over N samples; 0 for what PyTorch does not compute."""
    exact = compute(inputs, weights, True)
    moves = [0.0] * len(exact)
    for seed in range(n if isinstance(reference, Torch) else 0):
        reference.rounding = seed
        try:
            moves = [max(m, largest(np.asarray(o) - np.asarray(e))) for m, o, e in zip(moves, compute(inputs, weights, True), exact)]
        finally:
            reference.rounding = None
    return moves


def slope_off(compute, inputs, weights, step=1e-6):
    """By how much the slope of the loss, by central differences along all gradients at once, is off what they say, as a part of it. A
    reference that differs from a program where this is large is wrong itself."""
    gradients = [np.asarray(g) for g in compute(inputs, weights, True)[1:]]
    ways = [g / largest(g) * max(largest(w), 1e-3) * step if largest(g) > 0 else g for g, w in zip(gradients, weights)]
    ends = [float(compute(inputs, [w + s * d for w, d in zip(weights, ways)], True)[0]) for s in (1, -1)]
    slope = sum(float((g * d).sum()) for g, d in zip(gradients, ways))
    return abs((ends[0] - ends[1]) / 2 - slope) / slope if slope > 0 else 0.0


def largest(a):
    return float(np.abs(a).max()) if a.size else 0.0
