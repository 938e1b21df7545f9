# How lit runs the tests of the command. Values that depend on the build come
# from lit.site.cfg.py, which CMake writes.
import os

import lit.formats

config.name = "plumb"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test", ".c", ".cc"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.plumb_lit_work_dir

tests_dir = os.path.dirname(config.test_source_root)
cases_dir = os.path.join(tests_dir, "cases")
runner_dir = os.path.join(tests_dir, "runner")

# FileCheck and not are beside llvm-config.
config.environment["PATH"] = os.pathsep.join([config.llvm_tools_dir, os.environ["PATH"]])
# What a user has set must not decide what is tested.
for name in ("NO_COLOR", "CLICOLOR_FORCE", "PLUMB_OPTIONS", "LD_PRELOAD"):
    config.environment.pop(name, None)
# Text wraps at the terminal's width: where a line breaks must not depend on how long the path of
# the checkout is. Tests of the wrapping set their own.
config.environment["COLUMNS"] = "400"
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["XDG_CACHE_HOME"] = os.path.join(config.plumb_lit_work_dir, "cache")

config.substitutions += [
    ("%plumb", config.plumb),
    ("%cases", cases_dir),
    ("%hostile", os.path.join(tests_dir, "hostile", "hostile.py")),
    ("%agree", f"{config.python} {runner_dir}/agree.py --plumb={config.plumb} "
               f"--build-dir={config.plumb_lit_work_dir}/agree"),
    ("%python", config.python),
    ("%include", os.path.join(os.path.dirname(tests_dir), "include")),
    # A case compiled as users compile: %cc -g FILE -o PROGRAM
    ("%cc", "gcc"),
    ("%c\\+\\+", "g++"),
]
