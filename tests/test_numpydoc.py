"""Every public function and method says what it takes and what it gives, in numpydoc sections."""

import inspect
import re
from dataclasses import is_dataclass

import pytest

import neurowhere
from neurowhere.model.schema import Schema

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?$", re.MULTILINE)
NOTHING = {None, "None", inspect.Signature.empty}


def sections(documented):
    """The sections of a docstring by title."""
    parts = SECTION.split(inspect.cleandoc(documented.__doc__ or ""))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def names_in(section):
    """The parameters that a section tells of."""
    return {name.strip().lstrip("*") for line in ENTRY.findall(section) for name in line.split(",")}


def parameters(function):
    """The parameters of a signature, without the instance."""
    found = inspect.signature(function).parameters
    return {name for name in found if name not in ("self", "cls") and not name.startswith("_")}


def methods(cls):
    """The public methods of a class that the package defines, whichever class it is in."""
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("neurowhere"):
            continue
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            if inspect.isfunction(function) and not name.startswith("_"):
                yield f"{cls.__name__}.{name}", inspect.unwrap(function)


def callables():
    """Every public function and method by its name."""
    for name in neurowhere.__all__:
        public = getattr(neurowhere, name)
        if inspect.isclass(public):
            yield from dict(methods(public)).items()
        else:
            yield name, inspect.unwrap(public)


def classes():
    """Public classes, without those of the schema: its page tells of each attribute."""
    public = [getattr(neurowhere, name) for name in neurowhere.__all__]
    found = [each for each in public if inspect.isclass(each) and not issubclass(each, Schema)]
    return [each.__name__ for each in found]


CALLABLES = dict(callables())


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_and_results_are_documented(name):
    function = CALLABLES[name]
    told = sections(function)
    assert parameters(function) <= names_in(told.get("Parameters", ""))
    assert names_in(told.get("Parameters", "")) <= parameters(function)
    if inspect.signature(function).return_annotation not in NOTHING:
        assert {"Returns", "Yields"} & set(told)


@pytest.mark.parametrize("name", classes())
def test_the_parameters_of_a_class_are_documented(name):
    cls = getattr(neurowhere, name)
    told = sections(cls)
    own = told.get("Parameters", "") + told.get("Attributes", "") * is_dataclass(cls)
    assert parameters(cls) <= names_in(own)
