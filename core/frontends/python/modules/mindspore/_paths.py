# SPDX-License-Identifier: Apache-2.0
"""Modules that are divided further where programs come from: the path that a program imports leads to where Gantry has the names."""
import sys
import types

_NN, _OPS, _COMMON = ("mindspore.nn",), ("mindspore.ops.operations", "mindspore.ops"), ("mindspore.common.api", "mindspore.common", "mindspore")

_INSIDE = {
    "mindspore.ops.operations": (_OPS, "math_ops array_ops nn_ops image_ops comm_ops sparse_ops random_ops debug_ops other_ops control_ops "
                                       "inner_ops spectral_ops linalg_ops manually_defined rl_ops custom_ops _inner_ops _grad_ops "
                                       "_scalar_ops _sequence_ops _rl_inner_ops _quant_ops _csr_ops _map_tensor_ops _cache_ops _opaque_predicate_registry "
                                       "_custom_ops_utils _embedding_cache_ops _infer_ops _ms_kernel _ocr_ops _pyfunc_registry _sparse_grad_ops "
                                       "_tensor_array _thor_ops _custom_grad reshard_ops"),
    "mindspore.ops.function": (("mindspore.ops.function", "mindspore.ops"),
                               "array_func math_func nn_func grad linalg_func random_func parameter_func other_func debug_func clip_func "
                               "image_func spectral_func sparse_func sparse_unary_func vmap_func fft_func reshard_func _add_attr_func"),
    "mindspore.ops.function.grad": (("mindspore.ops.grad", "mindspore.ops"), "grad_func"),
    "mindspore.ops.composite": (("mindspore.ops.composite", "mindspore.ops"),
                                "base math_ops array_ops random_ops clip_ops multitype_ops env_ops vmap_impl syntax_adapter"),
    "mindspore.ops.composite.multitype_ops": (("mindspore.ops.composite", "mindspore.ops"),
                                              "zeros_like_impl ones_like_impl add_impl sub_impl mul_impl div_impl _compile_utils "
                                              "_constexpr_utils getitem_impl setitem_impl bitwise_and_impl bitwise_or_impl bitwise_xor_impl "
                                              "equal_impl floordiv_impl greater_equal_impl greater_impl in_impl invert_impl left_shift_impl "
                                              "less_equal_impl less_impl logic_not_impl logical_and_impl logical_or_impl mod_impl negative_impl "
                                              "not_equal_impl not_in_impl pow_impl right_shift_impl uadd_impl"),
    "mindspore.ops": (("mindspore.ops", "mindspore.ops.operations"), "auto_generate vm_impl_registry _primitive_cache _constants _grad_experimental _register_for_op _utils _vmap "
                                                                   "deprecated functional_overload op_info_register signature tensor_method"),
    "mindspore.ops.auto_generate": (_OPS, "gen_ops_prim gen_ops_def gen_arg_handler"),
    "mindspore.nn": (_NN, "metrics learning_rate_schedule dynamic_lr grad reinforcement sparse probability utils"),
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
                                  "_decorator _register_for_tensor _utils _stub_tensor np_dtype no_inline _grad_function _jit_fallback_utils _monad "
                                  "_pijit_context _register_for_recompute _tensor_cpp_method _tensor_docs dynamic_shape file_system "
                                  "jit_begin_end jit_trace mindir_util"),
    "mindspore.train": (("mindspore.train", "mindspore"), "train_thor dataset_helper mind_ir_pb2 summary _utils data_sink anf_ir_pb2 checkpoint_pb2 "
                                                             "lineage_pb2 node_strategy_pb2 print_pb2 summary_pb2"),
    "mindspore.train.metrics": (("mindspore.train.metrics",), "accuracy metric error fbeta loss precision recall topk mae confusion_matrix auc "
                                                           "bleu_score cosine_similarity dice hausdorff_distance mean_surface_distance "
                                                           "occlusion_sensitivity perplexity roc root_mean_square_surface_distance"),
    "mindspore.train.callback": (("mindspore.train.callback",), "_callback _loss_monitor _time_monitor _checkpoint _early_stop _history "
                                                                "_lambda_callback _lr_scheduler_callback _backup_and_restore _dataset_graph "
                                                                "_landscape _on_request_exit _reduce_lr_on_plateau _summary_collector"),
    "mindspore.train.summary": (("mindspore.train",), "summary_record writer"),
    "mindspore.communication": (("mindspore.communication",), "management"),
    "mindspore": (("mindspore.ops", "mindspore.nn", "mindspore", "mindspore.common.api"), "experimental _checkparam _extends _c_expression parallel profiler rewrite mindrecord runtime hal boost "
                  "_check_jit_forbidden_api default_config device_context device_manager multiprocessing run_check safeguard "
                  "utils version"),
    "mindspore._extends": (_COMMON, "parse builtin_operations utils optimize"),
    "mindspore._extends.parse": (_COMMON + ("mindspore.ops",), "compile_config deprecated jit_fallback_modules namespace parser resources "
                                                               "standard_method trope"),
    "mindspore.parallel": (_COMMON + ("mindspore.nn",), "_auto_parallel_context _cell_wrapper _cost_model_context _dp_allreduce_fusion "
                                                        "_offload_context _parallel_serialization _ps_context _recovery_context _tensor "
                                                        "_transformer _utils algo_parameter_config auto_parallel checkpoint_transform function "
                                                        "mpi nn parameter_broadcast shard"),
    # What has names of others for other things (scipy's inv is no reciprocal) is not found elsewhere.
    "mindspore.parallel._transformer": ((), "layers loss moe op_parallel_config transformer"),
    "mindspore.parallel.nn": (_NN, "parallel_cell_wrapper parallel_grad_reducer"),
    "mindspore.common.dynamic_shape": (_COMMON, "_auto_dynamic auto_dynamic_shape enable_dynamic"),
    "mindspore.scipy": ((), "fft ops optimize utils utils_const"),
    "mindspore.ops._utils": (("mindspore.ops",), "arg_dtype_cast arg_handler utils"),
    "mindspore.nn.utils": (_NN, "init"),
    "mindspore.nn.sparse": (_NN, "sparse"),
    "mindspore.nn.reinforcement": (_NN, "_batch_read_write _tensors_queue tensor_array"),
    "mindspore.nn.probability.bijector": ((), "bijector exp gumbel_cdf invert power_transform scalar_affine softplus"),
    "mindspore.nn.probability.distribution": ((), "distribution normal uniform bernoulli beta categorical exponential gamma geometric gumbel "
                                                   "log_normal logistic poisson transformed_distribution _utils"),
    "mindspore.experimental.optim": ((), "adadelta adagrad adam adamax adamw asgd lr_scheduler nadam optimizer radam rmsprop rprop sgd"),
    "mindspore.mint": (("mindspore.mint._layers", "mindspore.mint._functional", "mindspore.ops", "mindspore.nn", "mindspore"),
                       "nn optim linalg special distributed"),
    "mindspore.mint.nn": (("mindspore.mint._functional", "mindspore.ops", "mindspore.nn"), "functional layer"),
    "mindspore.nn.probability": (_NN, "distribution bijector bnn_layers"),
    "mindspore.mint.optim": ((), "adam adamw sgd"),
    "mindspore.experimental": ((), "optim map_parameter es"),
    "mindspore.dataset": (("mindspore.dataset",), "vision text audio engine"),
    "mindspore.numpy": (("mindspore.numpy",), "array_creations array_ops math_ops logic_ops dtypes utils utils_const"),
}


# Their names are those of other modules for what has other arguments: nothing of these may stand for them.
_APART = ("mindspore.experimental", "mindspore.mint.optim")


class _Parent(types.ModuleType):
    def __setattr__(self, name, value):
        if name in self.__dict__ and isinstance(value, types.ModuleType) and isinstance(getattr(value.__spec__, "loader_state", None), tuple):
            return
        super().__setattr__(name, value)


def places_of(name):
    """The modules that have what the module @name has, or None."""
    parent, _, last = name.rpartition(".")
    places, inside = _INSIDE.get(parent, (None, ""))
    return None if last not in inside.split() else () if name in _APART else places


def fill(module, places):
    """Gives @module the names of @places: the first that has one counts."""
    import importlib
    modules = [importlib.import_module(place) for place in places]
    inside = _INSIDE.get(module.__name__, (None, ""))[1].split()  # modules of its own, whatever has their names elsewhere
    for other in reversed(modules):
        vars(module).update({n: v for n, v in vars(other).items() if not n.startswith("__") and (n not in inside or not isinstance(v, types.ModuleType))})

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


def lend(name, place):
    """What the module @name of Gantry has not, the package @place around it may: programs name the path that MindSpore has it at."""
    import importlib
    module, package = importlib.import_module(name), importlib.import_module(place)

    def find(wanted):
        if wanted.startswith("__"):
            raise AttributeError(f"module '{name}' has no attribute '{wanted}'")
        return getattr(package, wanted)
    module.__getattr__ = find


class _Absent(type):
    def __call__(cls, *args, **kwargs):
        raise NotImplementedError(f"Gantry does not have '{cls.__doc__}'.{_near(cls.__doc__ or '')}")


def _near(path):
    """A sentence on the optimizers of nn whose names are like that of the optimizer @path, or nothing."""
    if ".optim." not in path:
        return ""
    import difflib
    from mindspore.nn import optim, optim_more
    name, names = path.rpartition(".")[2], [*optim.__all__, *optim_more.__all__]
    near = [n for n in names if n.lower().startswith(name.lower())] or difflib.get_close_matches(name, names, 3, 0.5)
    return " Near, with arguments of their own: " + ", ".join("mindspore.nn." + name for name in near) + "." if near else ""


def absent(path):
    """What a program may import, and compare types with, but not call: so that what else its file has still runs."""
    return _Absent(path.rpartition(".")[2], (), {"__doc__": path})
