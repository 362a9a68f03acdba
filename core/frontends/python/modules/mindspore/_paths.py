# SPDX-License-Identifier: Apache-2.0
"""Modules that are divided further where programs come from: the path that a program imports leads to where Gantry has the names."""
import sys
import types

_NN, _OPS, _COMMON = ("mindspore.nn",), ("mindspore.ops.operations", "mindspore.ops"), ("mindspore.common.api", "mindspore.common", "mindspore")

_INSIDE = {
    "mindspore.ops.operations": (_OPS, "math_ops array_ops nn_ops image_ops comm_ops sparse_ops random_ops debug_ops other_ops control_ops "
                                       "inner_ops spectral_ops linalg_ops manually_defined rl_ops custom_ops _inner_ops _grad_ops "
                                       "_scalar_ops _sequence_ops _rl_inner_ops _quant_ops _csr_ops _map_tensor_ops _cache_ops _opaque_predicate_registry"),
    "mindspore.ops.function": (("mindspore.ops.function", "mindspore.ops"),
                               "array_func math_func nn_func grad linalg_func random_func parameter_func other_func debug_func clip_func "
                               "image_func spectral_func sparse_func sparse_unary_func vmap_func"),
    "mindspore.ops.function.grad": (("mindspore.ops.grad", "mindspore.ops"), "grad_func"),
    "mindspore.ops.composite": (("mindspore.ops.composite", "mindspore.ops"),
                                "base math_ops array_ops random_ops clip_ops multitype_ops env_ops vmap_impl syntax_adapter"),
    "mindspore.ops.composite.multitype_ops": (("mindspore.ops.composite", "mindspore.ops"),
                                              "zeros_like_impl ones_like_impl add_impl sub_impl mul_impl div_impl _compile_utils "
                                              "_constexpr_utils getitem_impl setitem_impl"),
    "mindspore.ops": (("mindspore.ops", "mindspore.ops.operations"), "auto_generate vm_impl_registry _primitive_cache"),
    "mindspore.ops.auto_generate": (_OPS, "gen_ops_prim gen_ops_def gen_arg_handler"),
    "mindspore.nn": (_NN, "metrics learning_rate_schedule dynamic_lr grad reinforcement sparse probability"),
    "mindspore.nn.grad": (("mindspore.nn", "mindspore.ops"), "cell_grad"),
    "mindspore.nn.metrics": (("mindspore.train.metrics", "mindspore.nn"),
                             "accuracy metric error fbeta loss precision recall topk mae confusion_matrix auc perplexity"),
    "mindspore.nn.layer": (("mindspore.nn.layer", "mindspore.nn"),
                           "basic activation conv normalization container pooling embedding math rnns rnn_cells combined image "
                           "timedistributed transformer padding dense channel_shuffle thor_layer embedding_service"),
    "mindspore.nn.wrap": (("mindspore.nn.wrap", "mindspore.nn"), "cell_wrapper loss_scale grad_reducer"),
    "mindspore.nn.loss": (("mindspore.nn.loss", "mindspore.nn"), "loss"),
    "mindspore.nn.optim": (("mindspore.nn.optim", "mindspore.nn"),
                           "optimizer momentum adam adagrad adadelta adamax adafactor asgd ftrl lamb lars lazyadam proximal_ada_grad "
                           "rmsprop rprop sgd thor tft_wrapper"),
    "mindspore.common": (_COMMON, "jit_config mutable jit_context lazy_inline generator symbol recompute dump auto_dynamic_shape hook_handle "
                                  "_decorator _register_for_tensor _utils _stub_tensor np_dtype no_inline"),
    "mindspore.train": (("mindspore.train", "mindspore"), "train_thor dataset_helper mind_ir_pb2 summary"),
    "mindspore.train.metrics": (("mindspore.train.metrics",), "accuracy metric error fbeta loss precision recall topk mae confusion_matrix"),
    "mindspore.train.callback": (("mindspore.train.callback",), "_callback _loss_monitor _time_monitor _checkpoint _early_stop _history "
                                                                "_lambda_callback _lr_scheduler_callback"),
    "mindspore.train.summary": (("mindspore.train",), "summary_record writer"),
    "mindspore.communication": (("mindspore.communication",), "management"),
    "mindspore": (("mindspore.ops", "mindspore.nn", "mindspore", "mindspore.common.api"), "mint experimental _checkparam _extends _c_expression"),
    "mindspore._extends": (_COMMON, "parse builtin_operations"),
    "mindspore.mint": (("mindspore.ops", "mindspore.nn", "mindspore"), "nn optim linalg special distributed"),
    "mindspore.mint.nn": (("mindspore.ops", "mindspore.nn"), "functional layer"),
    "mindspore.nn.probability": (_NN, "distribution bijector bnn_layers"),
    "mindspore.experimental": (_NN, "optim map_parameter es"),
    "mindspore.dataset": (("mindspore.dataset",), "vision text audio engine"),
    "mindspore.numpy": (("mindspore.numpy",), "array_creations array_ops math_ops logic_ops dtypes utils utils_const"),
}


class _Parent(types.ModuleType):
    def __setattr__(self, name, value):
        if name in self.__dict__ and isinstance(value, types.ModuleType) and isinstance(getattr(value.__spec__, "loader_state", None), tuple):
            return
        super().__setattr__(name, value)


def places_of(name):
    """The modules that have what the module @name has, or None."""
    parent, _, last = name.rpartition(".")
    places, inside = _INSIDE.get(parent, (None, ""))
    return places if last in inside.split() else None


def fill(module, places):
    """Gives @module the names of @places: the first that has one counts."""
    import importlib
    modules = [importlib.import_module(place) for place in places]
    for other in reversed(modules):
        vars(module).update({n: v for n, v in vars(other).items() if not n.startswith("__")})

    # Python names the module in its parent when it is there, over what the parent has by that name: common.mutable stays the function.
    parent = sys.modules[module.__name__.rpartition(".")[0]]
    if type(parent) is types.ModuleType:
        parent.__class__ = _Parent

    def find(name):
        if places_of(f"{module.__name__}.{name}") is not None:
            return importlib.import_module(f"{module.__name__}.{name}")
        for other in modules:
            found = getattr(other, name, module)
            if found is not module:
                return found
        if name.startswith("__"):
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        return absent(f"{module.__name__}.{name}")
    module.__getattr__ = find


class _Absent(type):
    def __call__(cls, *args, **kwargs):
        raise NotImplementedError(f"Gantry does not have '{cls.__doc__}'.")


def absent(path):
    """What a program may import, and compare types with, but not call: so that what else its file has still runs."""
    return _Absent(path.rpartition(".")[2], (), {"__doc__": path})
