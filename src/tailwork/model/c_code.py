"""Functions of a model as C source, by CasADi's code generation: for controllers, without Python."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tailwork.errors import ArgumentError, UnknownNameError
from tailwork.files import ready_folder, write_whole
from tailwork.model.questions import QUESTIONS, argument_names, recorded
from tailwork.typing import Floats

if TYPE_CHECKING:
    from tailwork.model.model import Model

ONE_ANSWER = {"foot_forces": "path"}
"""Functions that are one answer of a question of several."""
FUNCTIONS = (*QUESTIONS, *ONE_ANSWER)
"""All that can be written as C."""


def export_c(model: Model, folder: str | os.PathLike[str], functions: Sequence[str]) -> tuple[str, ...]:
    """See `Model.export_c`."""
    if not isinstance(functions, (list, tuple)) or not functions:
        raise ArgumentError("functions", functions, f"a list of names of functions, of {', '.join(FUNCTIONS)}")
    for name in functions:
        if name not in FUNCTIONS:
            raise UnknownNameError.among("functions", str(name), FUNCTIONS, "function")
        if not _counts(model, name)[1]:
            raise ArgumentError("functions", name, "a function with an answer: this model pins no feet")
    texts = _files(model, tuple(dict.fromkeys(functions)))
    ready_folder(folder)
    for name, text in texts.items():
        write_whole(Path(folder) / name, text)
    return tuple(texts)


def _counts(model: Model, name: str) -> tuple[dict[str, int], dict[str, int]]:
    """How many numbers the arguments and the answers of a function have, those with none left out."""
    question = QUESTIONS[ONE_ANSWER.get(name, name)]
    inputs = {x: len(argument_names(model.layout, x)) for x in question.arguments}
    answers = {x: int(np.prod(shape, dtype=int)) for x, shape in question.answers(model.layout).items()}
    if name in ONE_ANSWER:
        answers = {name: answers[name]}
    return {x: n for x, n in inputs.items() if n}, {x: n for x, n in answers.items() if n}


def _files(model: Model, functions: Sequence[str]) -> dict[str, str]:
    """Texts by file: a header, the functions of the header, one file a function from CasADi, and an example."""
    own = re.sub(r"[\W_]+", "_", model.robot.name, flags=re.ASCII).strip("_")  # as CasADi wants names
    own = own if own[:1].isalpha() and own != "example" else f"robot_{own}".strip("_")
    needed = {name: recorded(model._layout_with, ONE_ANSWER.get(name, name))[1] for name in functions}
    paths = list(dict.fromkeys(path for names in needed.values() for path in names))
    texts = {f"{own}.h": _header(model, own, functions, paths), f"{own}.c": _functions(model, own, functions, paths)}
    texts |= {f"{own}_{name}.c": _generated(model, own, name, needed[name], paths) for name in functions}
    return texts | {"example.c": _example(model, own, functions)}


def _generated(model: Model, own: str, name: str, needed: Sequence[str], paths: Sequence[str]) -> str:
    """The C that CasADi writes for a function, matrices row by row."""
    import casadi  # takes long to import

    function = model.casadi(ONE_ANSWER.get(name, name))
    inputs, answers = _counts(model, name)
    symbols = {x: casadi.SX.sym(x, n) for x, n in inputs.items()}  # type: ignore[arg-type]
    parameters: Any = casadi.SX.sym("parameters", len(paths))  # type: ignore[arg-type]
    picked = [parameters[paths.index(path)] for path in needed]
    given = {x: symbols.get(x, casadi.SX(0, 1)) for x in function.name_in()[:-1]}
    found: Any = function.call(given | {"parameters": casadi.vertcat(*picked)})
    rows = [casadi.densify(casadi.vec(found[x].T)) for x in answers]
    made = casadi.Function(f"{own}_{name}_casadi", [*symbols.values(), parameters], rows)
    with tempfile.TemporaryDirectory() as folder:
        generator = casadi.CodeGenerator(f"{own}_{name}.c", {"verbose": False})  # whose name begins all of its symbols
        generator.add(made)
        generator.generate(folder + os.sep)
        text = (Path(folder) / f"{own}_{name}.c").read_text(encoding="utf-8")
    return f"/* {name} of {own}, by CasADi's code generation. Call it through {own}.h. */\n{text}"


def _declared(model: Model, own: str, name: str) -> str:
    inputs, answers = _counts(model, name)
    arguments = (
        [f"const double *{x}" for x in inputs] + ["const double *parameters"] + [f"double *{x}" for x in answers]
    )
    return f"int {own}_{name}({', '.join(arguments)})"


def _header(model: Model, own: str, functions: Sequence[str], paths: Sequence[str]) -> str:
    upper, robot = own.upper(), model.robot
    used = dict.fromkeys(x for name in functions for x in _counts(model, name)[0])
    lines = [
        f"/* Dynamics of {_comment(robot.name)}, pinned feet: {', '.join(model.foot_names) or 'none'}. SI units, "
        "angles in radians.",
        "",
        "   Places and velocities are in the inertial frame; matrices are written row by row. Functions return 0.",
        "   `parameters` are the numbers of the robot in the order of the comments below; NULL takes those it has.",
        "   An answer that is not wanted may be NULL. Functions keep nothing between calls. */",
        f"#ifndef {upper}_H",
        f"#define {upper}_H",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    for argument in used:
        names = argument_names(model.layout, argument)
        if argument == "tau":
            names = tuple(f"{x} [{unit}]" for x, unit in zip(names, model.actuator_units, strict=True))
        lines += [f"#define {upper}_{argument.upper()} {len(names)}"]
        lines += [f"/* {argument}[{k}]: {_comment(name)} */" for k, name in enumerate(names)]
    lines += ["", f"#define {upper}_PARAMETERS {len(paths)}", f"extern const double {own}_parameters[{len(paths)}];"]
    lines += [f"/* parameters[{k}]: {_comment(path)} */" for k, path in enumerate(paths)]
    for name in functions:
        shapes = QUESTIONS[ONE_ANSWER.get(name, name)].answers(model.layout)
        answers = [f"{x}: {' x '.join(map(str, shapes[x])) or '1'}" for x in _counts(model, name)[1]]
        lines += ["", f"/* {'; '.join(answers)} */", f"{_declared(model, own, name)};"]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "#endif", ""]
    return "\n".join(lines)


def _functions(model: Model, own: str, functions: Sequence[str], paths: Sequence[str]) -> str:
    """The functions of the header, which call CasADi's."""
    values = ",\n    ".join(_number(model._numbers[path]) for path in paths)
    lines = [f'#include "{own}.h"', "", f"const double {own}_parameters[{len(paths)}] = {{\n    {values}\n}};"]
    for name in functions:
        inputs, answers = _counts(model, name)
        casadi_name = f"{own}_{name}_casadi"
        given = f"parameters ? parameters : {own}_parameters"
        lines += [
            "",
            f"int {casadi_name}(const double **arg, double **res, long long *iw, double *w, int mem);",
            "",
            f"{_declared(model, own, name)} {{",
            f"    const double *arg[] = {{{', '.join([*inputs, given])}}};",
            f"    double *res[] = {{{', '.join(answers)}}};",
            f"    return {casadi_name}(arg, res, 0, 0, 0);",
            "}",
        ]
    return "\n".join([*lines, ""])


def _example(model: Model, own: str, functions: Sequence[str]) -> str:
    """A program that calls every function where the robot stands, at rest and without efforts, and prints answers."""
    files = " ".join([f"{own}.c", *(f"{own}_{name}.c" for name in functions)])
    values: dict[str, Floats] = {"q": model.standing()}
    lines = [
        "/* Each function once, where the robot stands, at rest, without efforts.",
        f"   cc -O2 -o example example.c {files} -lm && ./example */",
        "#include <stdio.h>",
        f'#include "{own}.h"',
        "",
    ]
    for argument in dict.fromkeys(x for name in functions for x in _counts(model, name)[0]):
        count = len(argument_names(model.layout, argument))
        numbers = ", ".join(map(_number, values.get(argument, np.zeros(count))))
        lines.append(f"static const double {argument}[{count}] = {{{numbers}}};")
    lines += ["", "int main(void) {"]
    for name in functions:
        inputs, answers = _counts(model, name)
        lines += ["    {"]
        lines += [f"        double {x}[{n}];" for x, n in answers.items()]
        call = ", ".join([*inputs, "0", *answers])
        lines += [f"        if ({own}_{name}({call})) return 1;"]
        for x, n in answers.items():
            lines += [f'        for (int i = 0; i < {n}; i++) printf("{name} {x} %d %.17g\\n", i, {x}[i]);']
        lines += ["    }"]
    return "\n".join([*lines, "    return 0;", "}", ""])


def _number(x: Any) -> str:
    return repr(float(x))


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")
