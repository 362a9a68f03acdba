# SPDX-License-Identifier: Apache-2.0
"""What a checkpointed function may save, as the statements of Gantry's policies say it."""


class Policy:
    """A policy and its text (docs/policies.md)."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"<policy {self.text}>"


def _quoted(names):
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names of checkpoint_name are strings, not {name!r}")
        if any(c in name for c in "'\\\n"):
            raise ValueError(f"a name in a policy has no quote, backslash or line break: {name!r}")
    return ", ".join(f"'{name}'" for name in names)


everything_saveable = Policy("everything_saveable")
nothing_saveable = Policy("nothing_saveable")
dots_saveable = checkpoint_dots = Policy("dots_saveable")
dots_with_no_batch_dims_saveable = checkpoint_dots_with_no_batch_dims = Policy("dots_with_no_batch_dims_saveable")


def offload_dot_with_no_batch_dims(offload_src, offload_dst):
    return Policy(f"offload_dot_with_no_batch_dims('{offload_src}', '{offload_dst}')")


def save_only_these_names(*names):
    return Policy(f"save_only_these_names({_quoted(names)})") if names else nothing_saveable


def save_any_names_but_these(*names):
    return Policy(f"save_any_names_but_these({_quoted(names)})")


def save_anything_except_these_names(*names):
    return Policy(f"save_anything_except_these_names({_quoted(names)})") if names else everything_saveable


def save_and_offload_only_these_names(*, names_which_can_be_saved, names_which_can_be_offloaded, offload_src, offload_dst):
    both = set(names_which_can_be_saved) & set(names_which_can_be_offloaded)
    if both:
        raise ValueError(f"The names should be exclusive and should not intersect in `names_which_can_be_saved` and "
                         f"`names_which_can_be_offloaded`. Got names_which_can_be_saved={names_which_can_be_saved}, "
                         f"names_which_can_be_offloaded={names_which_can_be_offloaded} and the intersection={sorted(both)}")
    return Policy(f"save_and_offload_only_these_names([{_quoted(names_which_can_be_saved)}], "
                  f"[{_quoted(names_which_can_be_offloaded)}], '{offload_src}', '{offload_dst}')")


def save_from_both_policies(first, second):
    return Policy(f"save_from_both_policies({first.text}, {second.text})")
