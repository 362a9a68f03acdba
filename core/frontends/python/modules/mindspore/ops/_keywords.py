# SPDX-License-Identifier: Apache-2.0
"""Names that arguments have beside their own: releases of MindSpore and its functions that share a computation name them differently."""
import functools

# Of functions of ops: the other name of an argument = the name that it has here.
_NAMES = """
arcsin x=input; arccos x=input; arctan x=input; asin x=input; acos x=input; atan x=input; sqrt x=input; inv x=input; invert x=input
binary_cross_entropy_with_logits input=logits target=label; dstack tensors=inputs; row_stack tensors=inputs; dtype x=input_x
expand input_x=input size=shape; gather_d x=input; masked_fill input_x=input; mixed_precision_cast dst_dtype=dst_type x=value
floor_div x=input y=other; floor_mod x=input y=other; floormod x=input y=other; truncate_mod x=input y=other; truncate_div x=input y=other
tensor_div x=input y=other; tensor_mod x=input y=other; true_divide dividend=input divisor=other; tensor_add x=input y=other
hardshrink input=x; hardswish input=x; softshrink input=x; prelu input=x; i0 input=x; swiglu input=x; kron input=x other=y
logsumexp dim=axis keepdim=keep_dims; permute axis=input_perm; reverse x=input axis=dims; swapdims dim0=axis0 dim1=axis1; tile dims=multiples
top_k input_x=input; unbind input=input_x dim=axis; unsqueeze input=input_x dim=axis; squeeze dim=axis; take input=x index=indices
unique_consecutive return_inverse=return_idx dim=axis; shape_mul input_data=shape; unstack input=input_x dim=axis
max dim=axis keepdim=keepdims; min dim=axis keepdim=keepdims; all dim=axis keepdim=keep_dims; any dim=axis keepdim=keep_dims; amax dim=axis keepdim=keepdims
amin dim=axis keepdim=keepdims; prod dim=axis keepdim=keep_dims; var dim=axis keepdim=keepdims correction=ddof; std dim=axis keepdim=keepdims correction=ddof
median dim=axis keepdim=keepdims; cumsum dim=axis input=x; logcumsumexp dim=axis; cummax dim=axis; cummin dim=axis; argsort dim=axis; sort dim=axis input=input_x
softmax dim=axis; log_softmax dim=axis input=logits; concat dim=axis; stack dim=axis; flip axis=dims; roll dim=dims; norm axis=dim keepdims=keepdim
count_nonzero input=x dim=axis keepdim=keep_dims; index_select dim=axis; split_axis dim=axis; repeat_interleave dim=axis; scatter dim=axis
matrix_norm dim=axis keepdim=keepdims
vector_norm dim=axis keepdim=keepdims; nanmean dim=axis keepdim=keepdims; nansum dim=axis keepdim=keepdims
"""


def also(function, names):
    """@function, which takes arguments by other names too."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        for name in tuple(kwargs):
            if name in names and names[name] not in kwargs:
                kwargs[names[name]] = kwargs.pop(name)
        return function(*args, **kwargs)
    return call


def apply(functions):
    """Puts them in place in the dict of a module."""
    for line in _NAMES.replace("\n", ";").split(";"):
        name, *pairs = line.split() or [None]
        if name in functions:
            functions[name] = also(functions[name], dict(pair.split("=") for pair in pairs))
