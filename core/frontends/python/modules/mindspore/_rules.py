# SPDX-License-Identifier: Apache-2.0
"""What an argument has to be, and what is said where it is not: rules that check a value, and how a table of them (_rule_table.py) is put
in place. Exceptions have the type and first words of MindSpore 2.7."""
import math
import operator
import types

_RELATIONS = {">": operator.gt, ">=": operator.ge, "<=": operator.le, "=": operator.eq}
_INSIDE = {"[": operator.ge, "(": operator.gt, "]": operator.le, ")": operator.lt}


def _subject(owner, name):
    return f"For '{owner}', the '{name}'" if owner else f"The '{name}'"


def _type_of(owner, name):
    return f"For '{owner}', the type of '{name}'" if owner else f"The type of '{name}'"


def _kind(value):
    return type(value).__name__


def _is_legal(value):
    return not (isinstance(value, float) and (math.isinf(value) or math.isnan(value)))


# Rules of one value: functions of owner, name and value

def number(kind, relation, limit):
    """A number of @kind that is in this relation to @limit."""
    def rule(owner, name, value):
        subject = _subject(owner, name)
        if not isinstance(value, kind):
            raise TypeError(f"{subject} must be {kind.__name__}, but got '{_kind(value)}'.")
        if not _is_legal(value):
            raise ValueError(f"{subject} must be a legal value, but got '{value}'.")
        if isinstance(value, bool) or not _RELATIONS[relation](value, limit):
            wrong = TypeError if isinstance(value, bool) else ValueError
            raise wrong(f"{subject} must be {kind.__name__} and must {relation} {limit}, but got '{value}' with type '{_kind(value)}'.")
    return rule


def a_number(kind):
    """A number of @kind that is finite."""
    def rule(owner, name, value):
        if not isinstance(value, kind) or isinstance(value, bool):
            prefix = f"For '{owner}', the" if owner else "The"
            raise TypeError(f"{prefix} type of '{name}' must be '{kind.__name__}', but got '{_kind(value)}'.")
        if not _is_legal(value):
            raise ValueError(f"{_subject(owner, name)} must be a legal float, but got '{value}'.")
    return rule


def of(*kinds):
    """An instance of one of @kinds; a truth value is no number."""
    words = [k.__name__ for k in kinds]

    def rule(owner, name, value):
        if not isinstance(value, kinds) or isinstance(value, bool) and bool not in kinds:
            said = f"one of '{words}'" if len(words) > 1 else f"'{words[0]}'"
            raise TypeError(f"{_type_of(owner, name)} should be {said}, but got type '{_kind(value)}'.")
    return rule


def _is_within(value, interval):
    low, high = interval[1:-1].split(", ")
    return _INSIDE[interval[0]](value, float(low)) and _INSIDE[interval[-1]](value, float(high))


def within(interval, kind=float):
    """A number of @kind in an interval as it is written: `[0.0, 1.0)`."""
    def rule(owner, name, value):
        subject = _subject(owner, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{subject} must be '{kind.__name__}',  but got '{_kind(value)}'.")
        if not _is_within(value, interval):
            raise ValueError(f"{subject} must be in range of {interval}, but got {value} with type '{_kind(value)}'.")
    return rule


def in_range(interval, meant=""):
    """A number in an interval, of whatever kind."""
    def rule(owner, name, value):
        if not _is_within(value, interval):
            raise ValueError(f"{_subject(owner, name)} must be a number in range {interval}{meant}, but got {value}.")
    return rule


def at_least(limit, form="the '{name}'"):
    """A number that is not less than @limit; @form: what it is called."""
    def rule(owner, name, value):
        if value < limit:
            raise ValueError(f"For '{owner}', {form.format(name=name)} must be at least {limit}, but got {value}.")
    return rule


def compared(relation, limit):
    """A number in this relation to @limit, of whatever kind."""
    def rule(owner, name, value):
        if not _RELATIONS[relation](value, limit):
            raise ValueError(f"For '{owner}', the argument '{name}' must {relation} {limit}, but got {value}.")
    return rule


def flag(owner, name, value):
    """A truth value."""
    if not isinstance(value, bool):
        raise TypeError(f"{_subject(owner, name)} must be a bool, but got {_kind(value)}.")


def one_of(*words, called=None):
    """One of these strings; @called: the name that the parameter has in the text, where that is another."""
    def rule(owner, name, value):
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"{_subject(owner, called or name)} must be str and must be in '{list(words)}', but got '{value}'.")
    return rule


def each(one, called="{name} item"):
    """Each element of a sequence, or the value itself where it is none."""
    def rule(owner, name, value):
        for i, item in enumerate(value if isinstance(value, (tuple, list)) else (value,)):
            one(owner, called.format(name=name, i=i), item)
    return rule


def unless(is_exempt, others):
    """What is not exempt is held to the rule of the @others."""
    def rule(owner, name, value):
        if not is_exempt(value):
            others(owner, name, value)
    return rule


def or_none(rule):
    return unless(lambda value: value is None, rule)


def unnamed(rule):
    """@rule, whose text does not say whose parameter it is."""
    return lambda owner, name, value: rule("", name, value)


def named(other, rule):
    """@rule, whose text says that the parameter is another's: of what the layer is made of."""
    return lambda owner, name, value: rule(other, name, value)


def refused(is_wrong, wrong, text):
    """@text of owner, name, value and kind, where is_wrong (value) holds."""
    def rule(owner, name, value):
        if is_wrong(value):
            raise wrong(text.format(owner=owner, name=name, value=value, kind=_kind(value), type=type(value)))
    return rule


# A table in place

def _parameters(function, is_method):
    """The names of its parameters in order, and the defaults that they have. A function of *args says them in `_parameters`."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if hasattr(function, "_parameters"):
        return tuple(function._parameters), dict(function._parameters)
    code = function.__code__
    names = code.co_varnames[:code.co_argcount]
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ())))
    defaults.update(function.__kwdefaults__ or {})
    return names[1:] if is_method else names, defaults


def check(rules, owner, given, defaults):
    """Holds the arguments that were @given, by their names, to @rules. @owner: whose they are; @defaults: what those that were not given are."""
    for names, rule in rules.items():
        if isinstance(names, tuple):
            rule(owner, *(given.get(name, defaults.get(name)) for name in names))
            continue
        for name in names.split():
            if name in given:
                rule(owner, name, given[name])


def _checked(function, rules, owner):
    """@function, whose arguments are held to @rules before. @owner: its name; None: it is a method of a class, which has one."""
    names, defaults = _parameters(function, owner is None)

    def call(*args, **kwargs):
        given = dict(zip(names, args[1:] if owner is None else args))
        given.update(kwargs)
        check(rules, owner if owner is not None else type(args[0]).__name__, given, defaults)
        return function(*args, **kwargs)
    call.__name__, call.__module__, call.__doc__, call.__wrapped__ = function.__name__, function.__module__, function.__doc__, function
    call._unchecked = function
    return call


def hold(names):
    """Holds the classes and functions that a module defines, in its dict @names, to the rules that the table has for them."""
    from mindspore._rule_table import TABLE
    for name, rules in TABLE.items():
        target = names.get(name)
        if getattr(target, "__module__", None) != names["__name__"]:
            continue
        if isinstance(target, type):
            target.__init__ = _checked(getattr(target.__init__, "_unchecked", target.__init__), rules, None)
        elif isinstance(target, types.FunctionType):
            names[name] = _checked(target, rules, name)
