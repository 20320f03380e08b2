# SPDX-License-Identifier: Apache-2.0
"""An operator on CUDA tensors, run by its kernel for the CPU."""

import functools
import re

import torch

from . import capture, driver, observe, places, rng, stream
from .memory import CPU, alias, on_device
from .values import form_of, has, mapped, tensors

# Of these some tensors may be the CPU's while others are the device's, as on a GPU.
_MIXES = re.compile(
    r"_?(unsafe_)?(masked_)?index|_foreach_|_fused_(adam|sgd|adagrad)|_pack_padded|histogram|_amp_|_embedding_bag|segment_reduce|_unsafe_"
)
_NAMES = {torch.float16: "Half", torch.bfloat16: "BFloat16", torch.complex32: "ComplexHalf"}
_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}

LARGE = 1 << 20  # bytes of arguments from which a result is worth the time to ask for its form


class Call:
    """One call: its arguments as the CPU's, and what comes of them."""

    def __init__(self, operator, args, kwargs):
        self.operator = operator
        self.device = None  # where results go
        self.foreign = False  # a tensor is the CPU's
        self.pairs = []  # a tensor of the CPU, and the device's tensor whose memory it has
        self.sized = {}  # by name, those whose size the kernel may change
        self.given = dict(zip(operator.names, args), **kwargs)
        self.args = [mapped(self.value, each) for each in args]
        self.kwargs = {
            name: self.out(name, each) if name in operator.outs else mapped(self.value, each)
            for name, each in kwargs.items()
        }
        if self.device is None:
            self.device = torch.device("cuda", driver.index_of(torch.device("cuda")))
        if self.foreign and not operator.mixes:
            self.apart(CPU)

    def apart(self, device):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {self.device} and {device}! ({self.operator.name})"
        )

    def place(self, device):
        if self.device is None:
            self.device = device
        elif self.device != device and not self.operator.mixes:
            self.apart(device)

    def value(self, value):
        if isinstance(value, torch.Tensor):
            if not value.is_cuda:
                self.foreign |= value.dim() > 0 and value.device.type == "cpu"
                return value
            if value.dim() > 0 or self.device is None:
                self.place(value.device)
            found = alias(value)
            self.pairs.append((found, value))
            return found
        if isinstance(value, torch.device) and value.type == "cuda":
            self.place(torch.device("cuda", driver.index_of(value)))
            return CPU
        return value

    def out(self, name, value):
        """A tensor that only receives: the kernel gets one of the CPU with its form, and may give it another size."""
        if not isinstance(value, torch.Tensor) or not value.is_cuda or value.layout != torch.strided:
            return mapped(self.value, value)
        self.place(value.device)
        found = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)
        self.pairs.append((found, value))
        self.sized[name] = found
        return found

    def written(self):
        """The program's tensors that the kernel writes."""
        return [tensor for name in self.operator.written for tensor in tensors(self.given.get(name))]

    def give_back(self):
        """The device's tensors get what the kernel wrote into those of `sized`, and sparse ones their new elements."""
        for found, tensor in self.pairs:
            if tensor.layout == torch.sparse_coo and has(self.written(), tensor):
                torch.ops.aten.copy_sparse_to_sparse_(tensor, on_device(found, self.device))
        for name, found in self.sized.items():
            if found.numel():
                alias(self.given[name]).copy_(found)

    def tell(self, results, runs_now=True):
        """Tells an observer what the call touches: what it reads and writes of its arguments, and its results. Values
        that choose places are known only if the call runs now."""
        operator = self.operator
        if operator.chooses == "unknown" or not observe.observed():
            return
        given = dict(zip(operator.names, self.args), **self.kwargs)
        found, apart = self.chosen(given, runs_now)
        if found is None:
            return
        written = self.written()
        apart += [tensor for name in places.left_out(operator.base, given) for tensor in tensors(self.given.get(name))]
        arguments = [tensor for _, tensor in self.pairs]
        touched = [
            (each, operator.how_written if has(written, each) else observe.READ)
            for each in arguments
            if not has(apart, each)
        ]
        touched += [(each, observe.WRITE) for each in tensors(results) if each.is_cuda and not has(arguments, each)]
        observe.touch(operator.label, touched + found)

    def chosen(self, given, runs_now):
        """What is touched in chosen places, as pairs for observe.touch, and the tensors that it is of. No pairs: nothing
        is known of it; None: then nothing may be told of the call."""
        base = self.operator.base
        if self.operator.chooses not in ("read", "written"):
            return [], []
        runs = observe.parts_of(base, given) if runs_now else None
        apart = tensors(self.given.get(places.chosen(base)))
        if self.operator.chooses == "read":
            return [(runs, observe.READ)] if runs else [], apart
        how = observe.READ | observe.WRITE if places.looks(base, given) else observe.WRITE
        return [(runs, how)] if runs else None, apart  # where nothing is written, sources are not read

    def result(self, result):
        """What the program gets: its own tensors where the kernel wrote into them."""
        if not isinstance(result, torch.Tensor) or result.device.type != "cpu":
            return result
        for found, tensor in self.pairs:
            if found is result:
                return tensor
        return on_device(result, self.device)


class Operator:
    """An overload of PyTorch's, as the dispatcher calls it for CUDA tensors."""

    def __init__(self, name, kernel=None, mixes=False):
        base, _, overload = name.partition(".")
        schema = torch._C._get_schema("aten::" + base, overload)
        written = [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        self.name = name
        self.names = [a.name for a in schema.arguments]
        self.written = {a.name for a in written}
        self.outs = {a.name for a in written if a.kwarg_only}
        # For each value returned the argument that it is, or None.
        self.returned = [
            next(
                (a.name for a in written if r.alias_info and a.alias_info.before_set == r.alias_info.before_set), None
            )
            for r in schema.returns
        ]
        self.overloads = getattr(torch.ops.aten, base)
        self.own = getattr(self.overloads, overload or "default")
        self.kernel = kernel or self.own
        self.draws = torch.Tag.nondeterministic_seeded in self.own.tags
        self.tensors = [a.name for a in schema.arguments if str(a.type) == "Tensor"]
        self.takes_generator = "generator" in self.names
        self.base = base
        self.chooses = places.kind_of(base)  # the places that it touches, by its values
        self.how_written = (
            observe.WRITE if self.outs or observe.ONLY_WRITTEN.match(base) else observe.READ | observe.WRITE
        )
        self.label = f"aten::{name}".encode()
        self.mixes = mixes or bool(_MIXES.match(base))

    def __call__(self, *args, **kwargs):
        call = Call(self, args, kwargs)
        with stream.on(call.device):
            handle = stream.current(call.device)
            if stream.capturing(handle):
                return capture.add(call, handle)
            stream.wait(call.device)
            with observe.named(self.name):
                result = self.run_in_place(call)
                if result is None:
                    result = mapped(call.result, self.run(call))
            for name, found in call.sized.items():
                if found.size() != call.given[name].size():
                    call.given[name].resize_(found.size())
            call.give_back()
            if observe.observed():
                call.tell(result)
                observe.work_done(handle)
            return result

    @functools.cached_property
    def into(self):
        """The overload that writes its one result into a tensor it gets; None if there is none, or the result is small."""
        one = [str(each.type) for each in self.own._schema.returns] == ["Tensor"]
        reduces = getattr(torch.Tag, "reduction", None) in self.own.tags
        if self.kernel is not self.own or self.written or self.draws or reduces or not one:
            return None
        wanted = [*((a.name, str(a.type)) for a in self.own._schema.arguments), ("out", "Tensor")]
        for name in self.overloads.overloads():
            found = getattr(self.overloads, name)
            if [(a.name, str(a.type)) for a in found._schema.arguments] == wanted:
                return found
        return None

    def run_in_place(self, call):
        """The result of a large call, which the kernel writes into the device's memory. None where that can't be."""
        if sum(tensor.numel() * tensor.element_size() for _, tensor in call.pairs) < LARGE or self.into is None:
            return None
        try:
            forms = {name: mapped(form_of, each) for name, each in call.kwargs.items()}
            form = self.own(*(mapped(form_of, each) for each in call.args), **forms)
        except (RuntimeError, TypeError):  # it depends on values
            return None
        # A kernel may leave the conjugates of complex numbers to be made.
        if form.layout != torch.strided or form.numel() == 0 or form.is_complex():
            return None
        found = torch.empty_strided(form.size(), form.stride(), dtype=form.dtype, device=call.device)
        target = alias(found)
        try:
            self.into(*call.args, **call.kwargs, out=target)
        except RuntimeError:  # no kernel for the type: by way of float
            return None
        # The kernel may have chosen another order of elements.
        return found if target.stride() == found.stride() else found.as_strided(target.size(), target.stride())

    def run(self, call, draw=rng.next_of):
        """The kernel's results. Random numbers come from what `draw` makes of the device's generator."""
        if not self.draws:
            return self.kernel_for_types(call.args, call.kwargs)
        given = call.given.get("generator")
        given = rng.default(call.device) if given is None else given
        drawn = draw(given) if given.device.type == "cuda" else given
        if not self.takes_generator:
            with rng.as_default(drawn):
                return self.kernel_for_types(call.args, call.kwargs)
        args, place = list(call.args), self.names.index("generator")
        if place < len(args):
            args[place] = drawn
            return self.kernel_for_types(args, call.kwargs)
        return self.kernel_for_types(args, {**call.kwargs, "generator": drawn})

    def kernel_for_types(self, args, kwargs):
        """The kernel's results; by way of float where it is not there for half."""
        kernel = self.kernel
        if kernel is self.own and any(
            isinstance(each, (bool, int, float, complex)) and name in self.tensors
            for name, each in zip(self.names, args)
        ):
            kernel = self.overloads  # PyTorch gives a number where the overload has a tensor without dimensions
        try:
            return kernel(*args, **kwargs)
        except RuntimeError as fault:  # PyTorch's NotImplementedError is one
            narrow = next((dtype for dtype, name in _NAMES.items() if f"'{name}'" in str(fault)), None)
            if narrow is None:
                raise
        pairs = []

        def widened(value):
            if isinstance(value, torch.Tensor) and value.dtype in _WIDER:
                pairs.append((value, value.to(_WIDER[value.dtype])))
                return pairs[-1][1]
            return _WIDER.get(value, value) if isinstance(value, torch.dtype) else value

        def narrowed(value):
            if not isinstance(value, torch.Tensor):
                return value
            before = next((tensor for tensor, wide in pairs if wide is value), None)
            return before if before is not None else value.to(narrow) if value.dtype == _WIDER[narrow] else value

        result = kernel(
            *mapped(widened, list(args)), **{name: mapped(widened, each) for name, each in kwargs.items()}
        )
        given = dict(zip(self.names, args), **kwargs)
        written = [tensor for name in self.written for tensor in tensors(given.get(name))]
        for tensor, wide in pairs:
            if has(written, tensor):
                (tensor if tensor.size() == wide.size() else tensor.resize_(wide.size())).copy_(wide)
        return mapped(narrowed, result)
