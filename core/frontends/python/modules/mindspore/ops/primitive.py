# SPDX-License-Identifier: Apache-2.0
"""Primitives: operations as objects, made with their attributes."""
import _gantry
from mindspore import _core


class Primitive:
    """An operation with attributes; `function` computes it."""
    _function = None
    _inputs = None

    def __init__(self, name=None):
        self.name = name or type(self).__name__
        self.attrs = {}
        self.instance_name = self.name

    def __call__(self, *args, **kwargs):
        if kwargs:
            raise TypeError(f"For '{self.name}', the arguments are given by position, but got {list(kwargs)}.")
        return self.compute(*args)

    def compute(self, *args):
        raise NotImplementedError(f"For '{self.name}', how it is computed is not known.")

    def add_prim_attr(self, name, value):
        self.__dict__[name] = value
        self.__dict__.setdefault("attrs", {})[name] = value
        return self

    def del_prim_attr(self, name):
        self.attrs.pop(name, None)
        return self

    def init_prim_io_names(self, inputs, outputs):
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def set_stage(self, stage):
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target):
        return self.add_prim_attr("primitive_target", device_target)

    def set_prim_instance_name(self, instance_name):
        self.instance_name = instance_name
        self.attrs["instance_name"] = instance_name
        return self

    def _return_self(self, *args, **kwargs):
        return self

    shard = recompute = add_auto_parallel_flag = place = _return_self

    def __repr__(self):
        return f"Prim[{self.name}]<{', '.join(f'{k}={v}' for k, v in self.__dict__.get('attrs', {}).items())}>"


class PrimitiveWithInfer(Primitive):
    pass


class PrimitiveWithCheck(Primitive):
    pass


def prim_attr_register(fn):
    """What an initialiser is given becomes attributes."""
    import functools
    import inspect

    @functools.wraps(fn)
    def initialize(self, *args, **kwargs):
        Primitive.__init__(self, type(self).__name__)
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
        fn(self, *args, **kwargs)
    return initialize


prim_arg_register = prim_attr_register


def _hold_to_rules(name, given):
    from mindspore import _rules
    from mindspore._rule_table_ops import PRIMITIVES
    if name in PRIMITIVES:
        _rules.check(PRIMITIVES[name], name, given, given)


def primitive_of(name, function, attributes=(), defaults=()):
    """A primitive class: attributes with their defaults, and the function (inputs..., attributes...)."""
    required = len(attributes) - len(defaults)

    def __init__(self, *args, **kwargs):
        Primitive.__init__(self, name)
        _hold_to_rules(name, {**dict(zip(attributes, args)), **kwargs})
        if len(args) > len(attributes):
            raise TypeError(f"{name}() takes {len(attributes)} attributes, but {len(args)} were given")
        for i, attribute in enumerate(attributes):
            if i < len(args):
                value = args[i]
            elif attribute in kwargs:
                value = kwargs.pop(attribute)
            elif i >= required:
                value = defaults[i - required]
            else:
                raise TypeError(f"{name}() needs the attribute '{attribute}'")
            if attribute == "data_format":
                _core.check_data_format(name, value)
            self.add_prim_attr(attribute, value)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")

    def compute(self, *args):
        return function(*args, **{a: self.__dict__[a] for a in attributes})

    return type(name, (Primitive,), {"__init__": __init__, "compute": compute, "__module__": "mindspore.ops.operations",
                                     "__doc__": function.__doc__})


class _RunOpHook:
    current = None


def _run_op(primitive, name, args):
    return primitive(*args)


def __getattr__(name):
    if name in ("constexpr", "_primexpr"):
        from mindspore.common.api import constexpr
        return constexpr
    raise AttributeError(f"module 'mindspore.ops.primitive' has no attribute '{name}'")
