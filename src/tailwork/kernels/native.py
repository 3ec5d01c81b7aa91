"""LLVM: assembly to machine code in memory."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tailwork.kernels import cache
from tailwork.locks import lock
from tailwork.progress import compiling

_at_work = lock(wait=True)
"""LLVM has locks of its own, so that no process forks while it works."""


@dataclass(frozen=True)
class Machine:
    """The processor that code is made for."""

    cpu: str
    features: str
    width: int  # lanes: doubles in a vector register


@lru_cache(maxsize=1)
def machine() -> Machine:
    """This machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    # As many lanes as a register holds: eight with AVX-512, else four (two registers of two on older machines). Eight
    # lanes in pairs of four-wide registers were measured no faster and twice as long to compile.
    return Machine(llvm.get_host_cpu_name(), features.flatten(), 8 if features.get("avx512f") else 4)


def _target_machine(level: int = 2) -> Any:
    target = llvm.Target.from_default_triple()
    host = machine()
    return target.create_target_machine(cpu=host.cpu, features=host.features, opt=level)


class Code:
    """Machine code in memory. Addresses stay valid as long as this object lives."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._addresses: dict[str, int] = {}

    def address(self, name: str) -> int:
        """Address of a function."""
        if name not in self._addresses:
            self._addresses[name] = self._engine.get_function_address(name)
        return self._addresses[name]

    def function(self, name: str, counted: bool) -> Callable[..., None]:
        """A function of three pointers, after a count if `counted`."""
        arguments = [ctypes.c_int64] * counted + [ctypes.c_void_p] * 3
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


def compiled(
    identity: str, assembly: Callable[[], str], optimised: bool = False, robot: str = "", operations: int = 0
) -> Code:
    """Machine code for a module, from the cache if it is there.

    The key is the module's identity with the processor and the versions of what compiles it.

    Args:
        identity: the same only for the same assembly.
        assembly: writes the module; not called where the cache has it.
        optimised: whether LLVM looks for a better order of what is written, as it should for drivers; kernels have it.
        robot: whose equations these are, for the reader of a progress line.
        operations: how many there are, likewise; 0: not many.
    """
    host = machine()
    version = (llvmlite.__version__, *llvm.llvm_version_info)
    key = hashlib.sha256(repr((identity, host.cpu, host.features, version)).encode()).hexdigest()
    code = cache.read(key)
    if code is not None:
        loaded = _loaded(code)
        if loaded is not None:
            return loaded
    with compiling(robot, operations):
        code = _interruptible(lambda: _object(assembly(), optimised))
    cache.write(key, code)
    loaded = _loaded(code)
    assert loaded is not None, "LLVM does not read the object it has just made"
    return loaded


def _object(assembly: str, optimised: bool) -> bytes:
    """Assembly as an object file."""
    with _at_work:
        # Level 2 takes a quarter longer for kernels, which are in order already, and they are no faster by it.
        module, target = llvm.parse_assembly(assembly), _target_machine(2 if optimised else 1)
        if optimised:
            # Without what takes long for little: drivers spend their time in kernels.
            tuning = llvm.create_pipeline_tuning_options(speed_level=2)
            tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
            builder = llvm.create_pass_builder(target, tuning)
            builder.getModulePassManager().run(module, builder)
        return target.emit_object(module)


def _interruptible(work: Callable[[], bytes]) -> bytes:
    """Do something that Ctrl-C cannot stop on another thread, so that the main one answers to it."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[bytes] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again below
            errors.append(error)

    thread = threading.Thread(target=run, name="tailwork compiles", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if errors:
        raise errors[0]
    return found[0]


def _loaded(code: bytes) -> Code | None:
    try:
        with _at_work:
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
    except RuntimeError:
        return None
    return Code(engine)
