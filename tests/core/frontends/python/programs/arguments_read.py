# SPDX-License-Identifier: Apache-2.0
"""No argument is ignored silently: each parameter of each function of the modules is read by the function, or stands below with the reason."""
import dis
import inspect
import sys
import types
import mindspore
import mindspore.amp, mindspore.common.initializer, mindspore.context, mindspore.dataset, mindspore.nn.layer_more, mindspore.nn.optim_more
import mindspore.numpy, mindspore.ops.operations_late, mindspore.ops.operations_more, mindspore.ops.operations_rare, mindspore.train
import mindspore.train.metrics_more

ALWAYS = {
    "use_locking": "updates are in order", "use_lock": "updates are in order", "num_parallel_workers": "rows come in the order of one worker",
    "name": "of an operation: nodes are named by their place",
    "owner": "whose rule it is: not every text says so",
}
SINK, ASYNC = "rows are given one by one in any case", "what is written is there when the call returns"
OTHER = "chooses in another compiler what has one way here"
WHY = {
    "_amp.computing_in.__exit__": {"error": "nothing is caught"},
    "_core.Tensor.__deepcopy__": {"memo": "a tensor holds nothing"},
    "_core.Tensor.__init__": {"const_arg": OTHER, "internal": OTHER},
    "_core.Tensor.astype": {"copy": "a tensor is a new one"},
    "_core.Tensor.init_data": {"args": "it is there already", "kwargs": "it is there already"},
    "_hooks.cotangent": {"type_id": "what is given has its shape"},
    "common.api.JitConfig.__init__": {"exc_mode": OTHER},
    "common.api._CellGraphExecutor.__call__": {"phase": OTHER},
    "common.api._Graph.__get__": {"owner": "of a descriptor"},
    "common.api.cell_attr_register": {"attrs": OTHER},
    "common.api.constexpr": {"check": OTHER, "get_instance": OTHER, "reuse_result": "known values are computed each time"},
    "common.api.deprecated": {"use_substitute_name": "both names are said"},
    "common.api.jit": {n: OTHER for n in ("backend", "capture_mode", "compile_once", "dynamic", "hash_args", "input_signature", "jit_level",
                                          "mode", "options")},
    "common.api.jit_ignore": {"options": OTHER},
    "common.api.lazy_inline": {"attrs": OTHER, "policy": OTHER},
    "common.parameter.Parameter.__init__": {"device": "one device", "storage_format": OTHER},
    "common.parameter.Parameter.init_data": {"layout": "one device", "set_sliced": "one device"},
    "common.seed._get_graph_seed": {"kernel_name": "one generator"},
    "common.tensor.tensor": {"const_arg": OTHER, "internal": OTHER},
    "dataset.sources.Dataset.create_dict_iterator": {"do_copy": "always copied", "num_epochs": SINK},
    "dataset.sources.Dataset.create_tuple_iterator": {"do_copy": "always copied", "num_epochs": SINK},
    "dataset.sources.Dataset.device_que": {"args": SINK, "kwargs": SINK},
    "dataset.sources.Dataset.output_shapes": {"estimate": "shapes are those of the first row"},
    "dataset.sources.GeneratorDataset.__init__": {"column_types": "a check of what comes anyway", "options": SINK},
    "dataset.sources.SubsetRandomSampler.indices": {"n": "the subset says it"},
    "dataset.sources.SubsetSampler.indices": {"n": "the subset says it"},
    "nn.cell.Cell._nothing": {"args": OTHER, "kwargs": OTHER},
    "nn.cell.Cell.init_parameters_data": {"auto_parallel_mode": "one device"},
    "nn.cell.Cell.insert_param_to_cell": {"check_name_contain_dot": "any name is allowed"},
    "nn.cell.Cell.state_dict": {"args": OTHER, "keep_vars": "a tensor has no graph behind it"},
    "nn.layer.CellDict.__init__": {"kwargs": OTHER},
    "nn.layer.CellList.__init__": {"kwargs": OTHER},
    "nn.layer.Dropout.__init__": {"dtype": "that of the input"},
    "nn.layer.get_activation": {"prim_name": "for a message of another class"},
    "nn.layer_more.Conv2dBnAct.__init__": {"after_fake": "nothing is quantized"},
    "nn.layer_more.DenseBnAct.__init__": {"after_fake": "nothing is quantized"},
    "nn.layer_more.TimeDistributed.__init__": {"reshape_with_axis": "a way to the same numbers"},
    "nn.wrap.FixedLossScaleUpdateCell.construct": {"loss_scale": "it stays"},
    "nn.wrap.MicroBatchInterleaved.__init__": {"interleave_num": "one device"},
    "ops._array.range": {"maxlen": "the length is known"},
    "ops._array.topk": {"sorted": "sorted in any case"},
    "ops._elementwise.depend": {"expr": "what has an effect is done in order"},
    "ops._gather.index_add": {"check_index_bound": "no place outside is written"},
    "ops._random.randperm": {"offset": "drawn from a stream of its own"},
    "ops._sequence.multinomial_with_replacement": {"offset": "drawn from a stream of its own"},
    "ops.composite.core": {"flags": OTHER},
    "ops.grad._Jvp.compute": {"kwargs": OTHER},
    "ops.grad._Vjp.compute": {"kwargs": OTHER},
    "ops.operations.HookBackward.__init__": {"cell_id": "for a message"},
    "ops.operations._batch_norm": {"data_format": "checked when the primitive is made"},
    "ops.operations_late.ForiLoop.compute": {"unroll": "known counts are unrolled"},
    "ops.operations_late.Scan.compute": {"unroll": "known counts are unrolled"},
    "ops.operations_late.Morph.__init__": {"infer_dtype": "those of what it gives", "infer_shape": "those of what it gives"},
    "ops.operations_more._same": {"group": "one device", "op": "of one tensor"},
    "ops.operations_more._with_places": {"data_format": "checked when the primitive is made"},
    "ops.operations_rare._split": {"num_split": "the sizes say it"},
    "ops.primitive.Primitive._return_self": {"args": OTHER, "kwargs": OTHER},
    "train.callback.CheckpointConfig.__init__": {"async_save": ASYNC, "enc_mode": "there is no key", "integrated_save": "one device"},
    "train.callback.TimeMonitor.epoch_begin": {"run_context": "the time is taken"},
    "train.metrics.Precision.<lambda>": {"label": "of the two one is counted"},
    "train.metrics.Recall.<lambda>": {"predicted": "of the two one is counted"},
    "train.model.Model.build": {"epoch": SINK, "sink_size": SINK, "valid_dataset": "a graph is made when it is called"},
    "train.model.Model.eval": {"dataset_sink_mode": SINK},
    "train.model.Model.fit": {n: SINK for n in ("dataset_sink_mode", "sink_size", "valid_dataset_sink_mode")},
    "train.model.Model.infer_predict_layout": {"data": "one device"},
    "train.model.Model.train": {"dataset_sink_mode": SINK, "sink_size": SINK},
    "train.serialization.load_checkpoint": {"dec_mode": "there is no key"},
    "train.serialization.save_checkpoint": {"async_save": ASYNC, "enc_mode": "there is no key", "integrated_save": "one device"},
}
FORMAT = "checked when the primitive is made"
WHY.update({
    "ops.operations.<lambda>": {"check_index_bound": "no place outside is written", "data_format": FORMAT, "maxlen": "the length is known",
                                "offset": "drawn from a stream of its own", "seed2": "drawn from a stream of its own",
                                "sorted": "sorted in any case"},
    "ops.operations._pool.<locals>.compute": {"data_format": FORMAT},
    "ops.operations._random.<locals>.<lambda>": {"seed2": "drawn from a stream of its own"},
    "ops.operations_late.<lambda>": {"data_format": FORMAT, "offset": "drawn from a stream of its own", "shape": "that of the other operand"},
    "ops.operations_late._lstsq": {"fast": "a way to the same numbers"},
    "ops.operations_more.<lambda>": {"group": "one device", "root_rank": "one device", "seed2": "drawn from a stream of its own"},
    "ops.operations_more._pool3d.<locals>.compute": {"data_format": FORMAT},
    "ops.operations_rare.<lambda>": {"data_format": FORMAT},
    "train.callback.EarlyStopping.on_train_begin": {"run_context": "it begins anew"},
    "train.callback.ReduceLROnPlateau.on_train_begin": {"run_context": "it begins anew"},
})
for _conv in ("operations._conv2d", "operations._conv_input", "operations_more._conv3d", "operations_more._conv3d_transpose"):
    WHY["ops." + _conv] = {"data_format": "checked when the primitive is made", "kernel_size": "the weight says it", "mode": OTHER,
                           "out_channel": "the weight says it"}
WHY["ops.operations._conv_input"].update(pad_list="the mode says it", size="the weight and the gradient say it")
WHY["ops.operations_more._conv3d_transpose"].update(in_channel="the weight says it")


def unread(function):
    code = function.__code__
    n = code.co_argcount + code.co_kwonlyargcount
    n += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    read = {i.argval for i in dis.get_instructions(code) if i.opname.startswith("LOAD_")}

    def inside(code):
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                read.update(constant.co_freevars)
                inside(constant)
    inside(code)
    if not any(i.opname == "RETURN_VALUE" for i in dis.get_instructions(code)):
        return []  # what only raises is not there
    if "locals" in read or all(i.opname in ("RESUME", "LOAD_CONST", "RETURN_VALUE") for i in dis.get_instructions(code)):
        return []  # what does nothing ignores nothing
    return [v for v in code.co_varnames[:n] if v not in read and v not in ("self", "cls", "_")]


found, seen = {}, set()


def walk(value):
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    if not isinstance(value, (type, types.FunctionType)) or value in seen or not value.__module__.startswith("mindspore"):
        return
    seen.add(value)
    if isinstance(value, type):
        for member in list(vars(value).values()):
            walk(member)
        return
    for cell in value.__closure__ or ():  # a primitive keeps its function so
        try:
            walk(cell.cell_contents)
        except ValueError:
            pass
    if unread(value):
        found.setdefault(f"{value.__module__.removeprefix('mindspore.')}.{value.__qualname__}", set()).update(unread(value))


for name in sorted(n for n in sys.modules if n.split(".")[0] == "mindspore"):
    for value in list(vars(sys.modules[name]).values()):
        walk(value)
assert len(seen) > 1500, len(seen)
left = {f"{name}: {' '.join(sorted(set(a) - set(ALWAYS) - set(WHY.get(name, {}))))}" for name, a in found.items()
        if set(a) - set(ALWAYS) - set(WHY.get(name, {}))}
assert not left, "\n".join(["read by nobody:"] + sorted(left))
stale = {f"{name}: {a}" for name, reasons in WHY.items() for a in reasons if a not in found.get(name, ())}
assert not stale, "\n".join(["read after all:"] + sorted(stale))
