"""Views: parts of arrays as compiled code hands them on, and handles: named tuples that it passes by their address.

A view is rows of one width that lie one after the other, with nothing to count or free; whoever makes it knows that the
memory outlives it. ``view[i]`` is its i-th number, whatever the row. A handle is the address of a named tuple: a function takes
one number instead of dozens. Where ``PHIST_CHECK_BOUNDS`` is set, all indices are checked against the view or array they are for.

What this takes from Numba's inside: how operators and attributes are typed (`numba.core.typing.templates`), since the documented
way, `overload`, compiles one more function for every use; and what Numba generates code with itself (`cgutils`, `imputils`).
`tests/engine/test_views.py` fails where one of them changes.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, make_attribute_wrapper, models, register_model

from phist.engine.jit import intrinsic
from phist.jit.checks import CHECKS_BOUNDS

_INDEX = ir.IntType(64)


class ViewType(types.Type):
    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"View({dtype})")


@register_model(ViewType)
class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, view: Any) -> None:
        members = [("data", types.CPointer(view.dtype)), ("n", types.int64), ("width", types.int64)]
        super().__init__(manager, view, members)  # type: ignore[no-untyped-call]


make_attribute_wrapper(ViewType, "n", "n")  # rows
make_attribute_wrapper(ViewType, "width", "width")


def data_of(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """Where the numbers of a view or an array begin, and how many there are."""
    if isinstance(kind, ViewType):
        view = cgutils.create_struct_proxy(kind)(context, builder, value)
        return view.data, builder.mul(view.n, view.width)
    array = context.make_array(kind)(context, builder, value)
    return array.data, array.nitems


def address(context: Any, builder: Any, kind: Any, value: Any, offset: Any, count: int = 1) -> Any:
    """Of the number at ``offset``, from which ``count`` numbers are read or written; memory ends with whole vectors of so many."""
    data, size = data_of(context, builder, kind, value)
    if CHECKS_BOUNDS:
        whole = ir.Constant(_INDEX, count)
        size = builder.mul(builder.sdiv(builder.add(size, ir.Constant(_INDEX, count - 1)), whole), whole)
        check_index(context, builder, offset, size)
        check_index(context, builder, builder.add(offset, ir.Constant(_INDEX, count - 1)), size)
    return builder.gep(data, [offset])


def check_index(context: Any, builder: Any, index: Any, size: Any) -> None:
    """Raise an IndexError unless it is within the bound."""
    cgutils.do_boundscheck(context, builder, index, size)


def _make_view(
    context: Any, builder: Any, kinds: Any, source: Any, begin: Any, n: Any, width: Any, *, checked: bool = CHECKS_BOUNDS
) -> Any:
    data, size = data_of(context, builder, kinds.args[0], source)
    if checked:
        one = ir.Constant(_INDEX, 1)
        check_index(context, builder, begin, builder.add(size, one))
        check_index(context, builder, builder.add(begin, builder.mul(n, width)), builder.add(size, one))
    view = cgutils.create_struct_proxy(kinds.return_type)(context, builder)
    view.data, view.n, view.width = builder.gep(data, [begin]), n, width
    return view._getvalue()


@intrinsic
def matrix(typing_context: Any, source: Any, begin: Any, n: Any, width: Any) -> Any:
    """``n`` rows of ``width`` numbers, from number ``begin`` of a view or a flat array on."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        return _make_view(context, builder, kinds, *arguments)

    return ViewType(source.dtype)(source, types.int64, types.int64, types.int64), generate


@intrinsic
def view_anywhere(typing_context: Any, source: Any, begin: Any, n: Any, width: Any) -> Any:
    """The same unchecked: for arenas, which check what is taken from them unless they only count."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        return _make_view(context, builder, kinds, *arguments, checked=False)

    return ViewType(source.dtype)(source, types.int64, types.int64, types.int64), generate


@intrinsic
def stretch(typing_context: Any, source: Any, begin: Any, n: Any) -> Any:
    """``n`` numbers from number ``begin`` on."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        source, begin, n = arguments
        return _make_view(context, builder, kinds, source, begin, n, ir.Constant(_INDEX, 1))

    return ViewType(source.dtype)(source, types.int64, types.int64), generate


@intrinsic
def rows_of(typing_context: Any, source: Any, begin: Any, n: Any) -> Any:
    """``n`` rows of a view, from row ``begin`` on."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        value, begin, n = arguments
        width = cgutils.create_struct_proxy(kinds.args[0])(context, builder, value).width
        return _make_view(context, builder, kinds, value, builder.mul(begin, width), n, width)

    return source(source, types.int64, types.int64), generate


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        view, index = arguments
        if isinstance(view, ViewType) and isinstance(index, types.Integer):
            return signature(types.int64 if isinstance(view.dtype, types.Integer) else view.dtype, view, types.int64)
        return None


@lower_builtin(operator.getitem, ViewType, types.Integer)  # type: ignore[untyped-decorator]
def _get_item(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    number = builder.load(address(context, builder, kinds.args[0], *arguments))
    return context.cast(builder, number, kinds.args[0].dtype, kinds.return_type)  # integers are indices, and all of one type


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        view, index, _ = arguments
        if isinstance(view, ViewType) and isinstance(index, types.Integer):
            return signature(types.none, view, types.int64, view.dtype)
        return None


@lower_builtin(operator.setitem, ViewType, types.Integer, types.Any)  # type: ignore[untyped-decorator]
def _set_item(context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
    view, index, value = arguments
    builder.store(value, address(context, builder, kinds.args[0], view, index))


class HandleType(types.Type):
    def __init__(self, fields: Any) -> None:
        self.fields = fields
        super().__init__(name=f"Handle({fields})")


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, handle: Any) -> None:
        data = manager.lookup(handle.fields).get_data_type()
        super().__init__(manager, handle, data.as_pointer())  # type: ignore[no-untyped-call]


@intrinsic
def handle_of(typing_context: Any, fields: Any) -> Any:
    """A handle of a named tuple, good until the function returns that asks for it."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        data = context.data_model_manager[kinds.args[0]].as_data(builder, arguments[0])
        return cgutils.alloca_once_value(builder, data)

    return HandleType(fields)(fields), generate


@intrinsic
def value_of(typing_context: Any, handle: Any) -> Any:
    """The named tuple of a handle: for loops that write, in which the compiler cannot know that the tuple stays as it is."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        model = context.data_model_manager[kinds.return_type]
        value = model.from_data(builder, builder.load(arguments[0]))
        return impl_ret_borrowed(context, builder, kinds.return_type, value)

    return handle.fields(handle), generate


@infer_getattr
class _HandleAttribute(AttributeTemplate):
    key = HandleType

    def generic_resolve(self, handle: Any, name: str) -> Any:  # type: ignore[override]
        if name not in handle.fields.fields:
            return None
        kind = handle.fields.types[handle.fields.fields.index(name)]
        return HandleType(kind) if isinstance(kind, types.NamedTuple) else kind


@lower_getattr_generic(HandleType)  # type: ignore[untyped-decorator]
def _get_field(context: Any, builder: Any, handle: Any, value: Any, name: str) -> Any:
    """A field, or a handle of it where it is a named tuple itself."""
    number = handle.fields.fields.index(name)
    kind = handle.fields.types[number]
    address = cgutils.gep_inbounds(builder, value, 0, number)
    if isinstance(kind, types.NamedTuple):
        return address
    field = context.data_model_manager[kind].from_data(builder, builder.load(address))
    return impl_ret_borrowed(context, builder, kind, field)
