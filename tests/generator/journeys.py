"""How an item travels from where it is made to where its fate is decided.

Each hop is a function without parameters that takes the item from the one
before it, moves it through something (a local, an out-parameter, a field, a
global, a container, a thread) and returns it. No hop keeps a reference.
"""

from __future__ import annotations

from collections.abc import Callable

from items import Item, lines
from program import Program

Hop = Callable[[Program, str, str], str]  # program, type, function before -> function


def by_return(p: Program, kind: str, before: str) -> str:
    name = p.name("pass_return")
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {kind} item = {before}();
  if (opaque(0)) return {null(p)};
  return item;
}}"""))
    return name


def by_out_parameter(p: Program, kind: str, before: str) -> str:
    fill, name = p.name("fill"), p.name("pass_out")
    p.add_function(lines(f"""
static int {fill}({kind}* out) {{
  *out = {before}();
  return 0;
}}"""))
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {kind} item = {null(p)};
  if ({fill}(&item) != 0) return {null(p)};
  return item;
}}"""))
    return name


def by_field(p: Program, kind: str, before: str) -> str:
    box, name = p.name("Box"), p.name("pass_field")
    p.add_type(f"struct {box} {{", "  long tag;", f"  {kind} item;", "};")
    if p.random.random() < 0.5:
        body = f"""
static {kind} {name}({void(p)}) {{
  struct {box} box = {{1, {before}()}};
  struct {box} copy = box;
  return copy.item;
}}"""
    else:
        make = f"new {box}()" if p.is_cxx else "calloc(1, sizeof *box)"
        free = "delete box" if p.is_cxx else "free(box)"
        body = f"""
static {kind} {name}({void(p)}) {{
  struct {box}* box = {make};
  box->item = {before}();
  {kind} item = box->item;
  {free};
  return item;
}}"""
    p.add_function(lines(body))
    return name


def by_global(p: Program, kind: str, before: str) -> str:
    slot, name = p.name("g_slot"), p.name("pass_global")
    p.add_type(f"{kind} {slot};")
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {slot} = {before}();
  {kind} item = {slot};
  {slot} = {null(p)};
  return item;
}}"""))
    return name


def by_container(p: Program, kind: str, before: str) -> str:
    name, slots = p.name("pass_slots"), p.random.randint(2, 9)
    index = p.random.randrange(slots)
    if p.is_cxx:
        p.includes.add("<vector>")
        declaration = f"std::vector<{kind}> slots({slots});"
    else:
        declaration = f"{kind} slots[{slots}] = {{0}};"
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {declaration}
  slots[opaque({index})] = {before}();
  return slots[opaque({index})];
}}"""))
    return name


def by_thread(p: Program, kind: str, before: str) -> str:
    p.includes.add("<pthread.h>")
    run, name = p.name("run"), p.name("pass_thread")
    cast = f"static_cast<{kind}*>(out)" if p.is_cxx else f"({kind}*)out"
    p.add_function(lines(f"""
static void* {run}(void* out) {{
  *{cast} = {before}();
  return {null(p)};
}}"""))
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {kind} item = {null(p)};
  pthread_t thread;
  pthread_create(&thread, {null(p)}, {run}, &item);
  pthread_join(thread, {null(p)});
  return item;
}}"""))
    return name


def by_callback(p: Program, kind: str, before: str) -> str:
    call, name = p.name("call"), p.name("pass_callback")
    p.add_function(lines(f"""
static {kind} {call}({kind} (*maker)({void(p)})) {{
  return maker();
}}"""))
    p.add_function(lines(f"""
static {kind} {name}({void(p)}) {{
  {kind} item = {call}({before});
  return item;
}}"""))
    return name


def by_unique_ptr(p: Program, kind: str, before: str) -> str:
    p.includes.add("<memory>")
    name = p.name("pass_unique")
    # The deleter never runs: the pointer is released before its end.
    p.add_function(lines(f"""
static {kind} {name}() {{
  auto nothing = [](void*) {{}};
  std::unique_ptr<void, decltype(nothing)> owner({before}(), nothing);
  auto second = std::move(owner);
  return static_cast<{kind}>(second.release());
}}"""))
    return name


def void(p: Program) -> str:
    return "" if p.is_cxx else "void"


def null(p: Program) -> str:
    return "nullptr" if p.is_cxx else "NULL"


HOPS: tuple[Hop, ...] = (by_return, by_out_parameter, by_field, by_global, by_container,
                         by_thread, by_callback)
CXX_HOPS: tuple[Hop, ...] = (*HOPS, by_unique_ptr)


def travel(p: Program, item: Item) -> str:
    """The function that hands the item over after up to three hops."""
    function = item.make
    for _ in range(p.random.randint(0, 3)):
        function = p.random.choice(CXX_HOPS if p.is_cxx else HOPS)(p, item.type, function)
    return function
