# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in MindSpore's own file format (protocol buffers: a tag, and a tensor of dims, type and bytes), and graphs for others."""
import os
from mindspore import _core
from mindspore._amp import computing_in
from mindspore._core import Tensor, is_strict
from mindspore._types import _of_thread
from mindspore._text import only as _only
from mindspore.common.parameter import Parameter


# Protocol buffers

def _varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("the file ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        if key & 7 == 0:
            value, at = _read_varint(data, at)
        elif key & 7 == 2:
            size, at = _read_varint(data, at)
            if at + size > len(data):
                raise ValueError("a field is longer than the file")
            value = data[at:at + size]
            at += size
        else:
            raise ValueError(f"a field of wire type {key & 7} is none of a checkpoint")
        yield key >> 3, value


def _encoded(name, value):
    """A tensor, or text: that is of the type `str`, four bytes a letter."""
    if isinstance(value, str):
        return _field(1, _field(1, name.encode()) + _field(2, b"\x08\x00" + _field(2, b"str") + _field(3, (value or "\0").encode("utf-32-le"))))
    tensor = _core.tensor_of(value)
    body = b"".join(b"\x08" + _varint(d) for d in (tensor.shape or (0,)))
    body += _field(2, str(tensor.dtype).encode()) + _field(3, bytes(memoryview(tensor)))
    return _field(1, _field(1, name.encode()) + _field(2, body))


def _decoded(body):
    dims, dtype, content = [], "Float32", b""
    for number, value in _fields(body):
        if number == 1 and isinstance(value, int):
            dims.append(value)
        elif number == 1:
            at = 0
            while at < len(value):
                dim, at = _read_varint(value, at)
                dims.append(dim)
        elif number == 2:
            dtype = bytes(value).decode()
        elif number == 3:
            content = bytes(value)
    return dims, str if dtype == "str" else _core.as_type(dtype.lower()), content


def _tensor(dims, dtype, content):
    import numpy
    if dtype is _core.bfloat16:
        array = (numpy.frombuffer(content, "<u2").astype("<u4") << 16).view("<f4")
    else:
        array = numpy.frombuffer(content, numpy.dtype(dtype.name.lower().rstrip("_")))
    shape = () if dims == [0] and array.size == 1 else tuple(dims)
    return Tensor(array.reshape(shape).copy(), dtype)


# Checkpoints

def _named_parameters(save_obj):
    if hasattr(save_obj, "parameters_and_names"):
        return [(n if p.name in (None, "Parameter") else p.name, p) for n, p in save_obj.parameters_and_names()]
    if isinstance(save_obj, dict):
        return list(save_obj.items())
    if isinstance(save_obj, (list, tuple)):
        return [(entry["name"], entry["data"]) for entry in save_obj]
    raise TypeError(f"For 'save_checkpoint', the parameter 'save_obj' must be 'nn.Cell', 'list' or 'dict', but got {type(save_obj)}.")


def save_checkpoint(save_obj, ckpt_file_name, integrated_save=True, async_save=False, append_dict=None, enc_key=None, enc_mode="AES-GCM",
                    choice_func=None, format="ckpt", **options):
    _only("save_checkpoint", enc_key=(enc_key, None), format=(format, "ckpt"), **{n: (v, None) for n, v in options.items()})
    if not isinstance(ckpt_file_name, str):
        raise TypeError(f"For 'save_checkpoint', the parameter 'ckpt_file_name' must be string, but got {type(ckpt_file_name)}.")
    entries = [(n, p) for n, p in _named_parameters(save_obj) if choice_func is None or choice_func(n)]
    entries += [(n, v if isinstance(v, (str, Tensor)) else Tensor(v)) for n, v in (append_dict or {}).items()]
    path = ckpt_file_name if ckpt_file_name.endswith(".ckpt") else ckpt_file_name + ".ckpt"
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with open(path + ".part", "wb") as file:
        for name, value in entries:
            file.write(_encoded(name, value))
    os.replace(path + ".part", path)


def load_checkpoint(ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, dec_mode="AES-GCM",
                    specify_prefix=None, choice_func=None, **options):
    _only("load_checkpoint", dec_key=(dec_key, None), format=(options.pop("format", "ckpt"), "ckpt"),
          **{n: (v, {"crc_check": False, "remove_redundancy": False}.get(n)) for n, v in options.items()})
    if not isinstance(ckpt_file_name, str):
        raise TypeError(f"For 'load_checkpoint', the argument 'ckpt_file_name' must be string, but got {type(ckpt_file_name)}.")
    if not ckpt_file_name.endswith(".ckpt"):
        raise ValueError("For 'load_checkpoint', the checkpoint file should end with '.ckpt', please input the correct "
                         "'ckpt_file_name'.")
    if not os.path.exists(ckpt_file_name):
        raise ValueError(f"For 'load_checkpoint', the checkpoint file: {ckpt_file_name} does not exist, please check whether the "
                         "'ckpt_file_name' is correct.")
    with open(ckpt_file_name, "rb") as file:
        data = memoryview(file.read())
    found = {}
    try:
        for number, entry in _fields(data):
            parts = dict(_fields(entry)) if number == 1 else {}
            if 1 not in parts:
                continue
            name = bytes(parts[1]).decode()
            prefixes = (filter_prefix,) if isinstance(filter_prefix, str) else tuple(filter_prefix or ())
            wanted = (specify_prefix,) if isinstance(specify_prefix, str) else tuple(specify_prefix or ())
            if any(name.startswith(p) for p in prefixes) or choice_func is not None and not choice_func(name):
                continue
            if wanted and not any(name.startswith(p) for p in wanted):
                continue
            dims, dtype, content = _decoded(parts[2])
            if name in found:  # a tensor in several pieces
                earlier = found[name]
                content = earlier[2] + content
            found[name] = (dims, dtype, content)
        parameters = {name: entry[2].decode("utf-32-le").rstrip("\0") if entry[1] is str else Parameter(_tensor(*entry), name=name)
                      for name, entry in found.items()}
    except ValueError as error:
        raise ValueError(f"Failed to read the checkpoint file {ckpt_file_name}: {error}.") from None
    if not parameters:
        raise ValueError(f"The loaded parameter dict is empty after filter or specify, please check the file {ckpt_file_name}.")
    if net is not None:
        load_param_into_net(net, parameters, strict_load)
    return parameters


def load_param_into_net(net, parameter_dict, strict_load=False, remove_redundancy=False):
    if not hasattr(net, "parameters_and_names"):
        raise TypeError(f"For 'load_param_into_net', the argument 'net' should be a Cell, but got {type(net)}.")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"For 'load_param_into_net', the argument 'parameter_dict' should be a dict, but got {type(parameter_dict)}.")
    _only("load_param_into_net", remove_redundancy=(remove_redundancy, False))
    missing, loaded = {}, set()
    net._name_parameters()
    for full_name, parameter in net.parameters_and_names():
        name = full_name if parameter.name in (None, "Parameter") else parameter.name
        if parameter_dict.get(name) is None:
            missing[name] = parameter
        else:
            _load_one(name, parameter, parameter_dict[name], strict_load)
            loaded.add(name)
    if missing and not strict_load:
        _load_behind_prefix(missing, parameter_dict, loaded)
    return list(missing), [n for n in parameter_dict if n not in loaded]


def _load_one(name, parameter, given, strict_load):
    if not isinstance(given, Tensor):
        raise TypeError(f"For 'load_param_into_net', the element in the argument 'parameter_dict' should be a 'Parameter', but got "
                        f"{type(given)}.")
    if given.shape != parameter.shape and not (given.size == 1 and parameter.size == 1):
        raise RuntimeError(f"For 'load_param_into_net', {name} in the argument 'net' should have the same shape as {name} in the "
                           f"argument 'parameter_dict'. But got its shape {parameter.shape} in the argument 'net' and shape "
                           f"{given.shape} in the argument 'parameter_dict'.")
    if given.dtype != parameter.dtype and (strict_load or given.dtype.is_float != parameter.dtype.is_float):
        raise RuntimeError(f"For 'load_param_into_net', {name} in the argument 'net' should have the same type as {name} in the argument "
                           f"'parameter_dict'. but got its type {parameter.dtype} in the argument 'net' and type {given.dtype} in the "
                           f"argument 'parameter_dict'. May you need to check whether the checkpoint you loaded is correct or the batch "
                           f"size and so on in the 'net' and 'parameter_dict' are same.")
    parameter.set_data(_core.reshape(_core.tensor_of(given), parameter.shape))


def _load_behind_prefix(missing, parameter_dict, loaded):
    """Those whose names in the file have one more prefix."""
    prefix = next((n[:-len(m)] for m in missing for n in parameter_dict if n.endswith(m)), "")
    for name in [m for m in missing if prefix and prefix + m in parameter_dict]:
        _load_one(name, missing.pop(name), parameter_dict[prefix + name], False)
        loaded.add(prefix + name)


def check_checkpoint(ckpt_file_name):
    try:
        load_checkpoint(ckpt_file_name)
        return True
    except ValueError:
        return False


# Graphs for others

def _with(file_name, ending):
    return file_name if file_name.endswith(ending) else file_name + ending


class FuncGraph:
    """A graph that was loaded: nn.GraphCell makes a Cell of it. Its parameters are constants; several results are a flat tuple."""

    def __init__(self, path):
        self.path = path
        self._cache = {}

    def _spliced(self, *inputs):
        import _gantry
        from mindspore.common.seed import state_of_model
        state, weights = state_of_model(_gantry.file_weights(self.path))
        results = _gantry.splice_file(self.path, inputs, state + tuple(value for _, value in weights) if state else None)
        return results[0] if len(results) == 1 else results

    def __call__(self, *inputs):
        import _gantry
        if _gantry.in_graph():
            return self._spliced(*inputs)
        return _gantry.graph_call(self._spliced, inputs, {}, self._cache, (), False)


def load(file_name, **options):
    """The graph of a MindIR file."""
    _only("load", **{n: (v, None) for n, v in options.items()})
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', the argument 'file_name' must be string, but got {type(file_name)}.")
    if not file_name.endswith(".mindir"):
        raise ValueError("For 'load', the argument 'file_name'(MindIR file) should end with '.mindir', please input the correct 'file_name'.")
    if not os.path.exists(file_name):
        raise ValueError(f"For 'load', the argument 'file_name'(MindIR file) {file_name} does not exist, please check whether the "
                         "'file_name' is correct.")
    return FuncGraph(os.path.abspath(file_name))


def export(net, *inputs, file_name, file_format, **options):
    """Writes the graph of a Cell: what calls Python is refused, with the lines that do."""
    import _gantry
    _only("export", **{n: (v, None) for n, v in options.items()})
    if file_format not in ("GANTRY", "MINDIR", "ONNX", "AIR"):
        raise ValueError(f"For 'export', 'file_format' must be one of ['AIR', 'ONNX', 'MINDIR'], but got {file_format}.")
    construct = getattr(net, "_graph_construct", None) or getattr(net, "__gantry_function__", net)
    if hasattr(net, "_name_parameters"):
        net._name_parameters()
    with computing_in(getattr(net, "__dict__", {}).get("_amp_type", _of_thread.amp)):
        if file_format in ("MINDIR", "ONNX"):
            path = os.path.abspath(_with(file_name, "." + file_format.lower()))
            _gantry.graph_file(construct, inputs, is_strict(), path)
            return
        text = _gantry.graph_text(construct, inputs, is_strict())
    if file_format == "AIR":
        raise NotImplementedError(f"For 'export', Gantry writes no {file_format}: use file_format='ONNX', whose file '{_with(file_name, '.onnx')}' "
                                  f"other programs and Gantry open, or 'GANTRY' for its own text form.")
    path = _with(file_name, ".gir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
