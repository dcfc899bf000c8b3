"""Runs inside containers under `python -I -S -c`: loads the modules that a request brings and compiles its units."""

import json
import sys
import types


def load(modules):
    """Modules by name, each after those that it imports."""
    package = types.ModuleType("rewriting")
    package.__path__ = []
    sys.modules["rewriting"] = package
    for name, text in modules:
        module = types.ModuleType("rewriting." + name)
        module.__package__ = "rewriting"
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(compile(text, name + ".py", "exec"), vars(module))
    return package


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        request = json.load(file)
    load(request["modules"]).compiling.main(request, sys.argv[2])
