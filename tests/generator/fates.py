"""What becomes of an item: freed in one of several ways, forgotten, or lost.

A fate writes the story's last function, which takes the item from its journey
and ends it, and adds the labels that say what is then true. It returns the
name of that function, to be called once from main.
"""

from __future__ import annotations

from collections.abc import Callable

from items import Item, find, lines
from journeys import null, void
from program import Line, Program

Fate = Callable[[Program, Item, str], str]  # program, item, function that hands it over


def story(p: Program, body: str) -> tuple[str, list[Line]]:
    """Adds a function without result; {name} in `body` is its name."""
    name = p.name("story")
    body_lines = lines(body.replace("STORY", f"static void {name}({void(p)})"))
    p.add_function(body_lines)
    return name, body_lines


def touch(item: Item, handle: str = "item") -> str:
    return f"touch({item.touch.format(handle)});"


# ------------------------------------------------------------- not lost

def freed(p: Program, item: Item, source: str) -> str:
    if not item.drops_clean:
        return holder_freed(p, item, source)
    if item.write_keep and p.random.random() < 0.7:
        return counted_freed(p, item, source)
    name, _ = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {touch(item)}
  {item.drop()}(item);
}}""")
    return name


def counted_freed(p: Program, item: Item, source: str) -> str:
    assert item.write_keep
    keep, drop = item.write_keep(), item.drop()
    name, _ = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {item.type} other = {keep}(item);
  {drop}(item);
  {touch(item, "other")}
  {drop}(other);
}}""")
    return name


def freed_on_both_paths(p: Program, item: Item, source: str) -> str:
    if not item.drops_clean:
        return holder_freed(p, item, source)
    drop, way = item.drop(), p.random.randint(0, 1)
    name, _ = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {touch(item)}
  if (opaque({way})) {{
    {drop}(item);
    return;
  }}
  {drop}(item);
}}""")
    return name


def freed_in_loop(p: Program, item: Item, source: str) -> str:
    if not item.drops_clean:
        return holder_freed(p, item, source)
    drop = item.drop()
    name, _ = story(p, f"""
STORY {{
  for (long i = 0; i < opaque({p.random.randint(1, 6)}); i++) {{
    {item.type} item = {source}();
    {touch(item)}
    {drop}(item);
  }}
}}""")
    return name


def forgotten(p: Program, item: Item, source: str) -> str:
    slot = p.name("g_kept")
    p.add_type(f"{item.type} {slot};")
    name, _ = story(p, f"""
STORY {{
  {slot} = {source}();
  {touch(item, slot)}
}}""")
    label = p.add_label("forgotten", [item.root], 1, None)
    label.direct, label.indirect = label.total, type(label.total)()
    return name


# ----------------------------------------------------------------- lost

def scope_end(p: Program, item: Item, source: str) -> str:
    name, body = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {touch(item)}
}}""")
    label = p.add_label("lost", [item.root], 1, "scope-end").name
    find(body, "touch(").mark(f"USE({label})")
    body[-1].mark(f"LOSS({label}) item")
    return name


def early_return(p: Program, item: Item, source: str) -> str:
    name, body = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {touch(item)}
  if (opaque(1)) return;
  {item.drop()}(item);
}}""")
    label = p.add_label("lost", [item.root], 1, "scope-end").name
    find(body, "touch(").mark(f"USE({label})")
    find(body, "return;").mark(f"LOSS({label}) item")
    return name


def error_path(p: Program, item: Item, source: str) -> str:
    other = p.random.randint(1, 90)
    name, body = story(p, f"""
STORY {{
  char* scratch = {"static_cast<char*>(malloc" if p.is_cxx else "(malloc"}({other}));
  {item.type} item = {source}();
  {touch(item)}
  scratch[0] = 's';
  if (opaque(1)) goto fail;
  {item.drop()}(item);
fail:
  free(scratch);
}}""")
    label = p.add_label("lost", [item.root], 1, "scope-end").name
    find(body, "touch(").mark(f"USE({label})")
    body[-1].mark(f"LOSS({label}) item")
    return name


def overwritten(p: Program, item: Item, source: str) -> str:
    slot = p.name("g_item")
    p.add_type(f"{item.type} {slot};")
    name, body = story(p, f"""
STORY {{
  {slot} = {source}();
  {touch(item, slot)}
  {slot} = {null(p)};
}}""")
    label = p.add_label("lost", [item.root], 1, "overwritten").name
    find(body, "touch(").mark(f"USE({label})")
    find(body, f"{slot} = {null(p)}").mark(f"LOSS({label}) {slot}")
    return name


def overwritten_in_loop(p: Program, item: Item, source: str) -> str:
    rounds = p.random.randint(2, 5)
    slot = p.name("g_last")
    p.add_type(f"{item.type} {slot};")
    name, body = story(p, f"""
STORY {{
  for (long i = 0; i < opaque({rounds}); i++) {{
    {slot} = {source}();
    {touch(item, slot)}
  }}
}}""")
    lost = p.add_label("lost", [item.root], rounds - 1, "overwritten").name
    find(body, "touch(").mark(f"USE({lost})")
    find(body, f"{slot} = ").mark(f"LOSS({lost}) {slot}")
    kept = p.add_label("forgotten", [item.root], 1, None)
    kept.direct, kept.indirect = kept.total, type(kept.total)()
    return name


def discarded(p: Program, item: Item, source: str) -> str:
    name, body = story(p, f"""
STORY {{
  {source}();
}}""")
    label = p.add_label("lost", [item.root], 1, "discarded").name
    find(body, f"  {source}();").mark(f"LOSS({label})")
    return name


def box_freed(p: Program, item: Item, source: str) -> str:
    box = p.name("Holder")
    p.add_type(f"struct {box} {{", f"  {item.type} item;", "  long spare;", "};")
    make = f"new {box}()" if p.is_cxx else "calloc(1, sizeof *box)"
    free = "delete box;" if p.is_cxx else "free(box);"
    name, body = story(p, f"""
STORY {{
  struct {box}* box = {make};
  box->item = {source}();
  {touch(item, "box->item")}
  {free}
}}""")
    label = p.add_label("lost", [item.root], 1, "holder-freed").name
    find(body, "touch(").mark(f"USE({label})")
    find(body, free).mark(f"LOSS({label}) box->item")
    return name


def holder_freed(p: Program, item: Item, source: str) -> str:
    """The item itself is freed, and what hung on it is lost."""
    if item.write_shallow is None:
        return box_freed(p, item, source)
    shallow = item.write_shallow()
    name, _ = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {touch(item)}
  {shallow.function}(item);
}}""")
    label = p.add_label("lost", shallow.parts, 1, "holder-freed").name
    shallow.loss.mark(f"LOSS({label}) {shallow.holders}".rstrip())
    return name


def reference_kept(p: Program, item: Item, source: str) -> str:
    """One reference too few is given back."""
    if item.write_keep is None:
        return scope_end(p, item, source)
    keep, drop = item.write_keep(), item.drop()
    name, body = story(p, f"""
STORY {{
  {item.type} item = {source}();
  {item.type} other = {keep}(item);
  {touch(item, "other")}
  {drop}(item);
}}""")
    label = p.add_label("lost", [item.root], 1, "scope-end").name
    find(body, f"{drop}(item)").mark(f"USE({label})")
    body[-1].mark(f"LOSS({label}) item | other")
    return name


def slot_overwritten(p: Program, item: Item, source: str) -> str:
    """A container's slot is filled again; the second item is freed."""
    if not item.drops_clean:
        return overwritten(p, item, source)
    slots, drop = p.name("g_slots"), item.drop()
    p.add_type(f"{item.type} {slots}[4];")
    put, index = p.name("put_slot"), p.random.randrange(4)
    put_body = lines(f"""
static void {put}(long index, {item.type} item) {{
  {slots}[index] = item;
}}""")
    p.add_function(put_body)
    name, body = story(p, f"""
STORY {{
  {put}(opaque({index}), {source}());
  {touch(item, f"{slots}[{index}]")}
  {put}(opaque({index}), {source}());
  {drop}({slots}[{index}]);
  {slots}[{index}] = {null(p)};
}}""")
    label = p.add_label("lost", [item.root], 1, "overwritten").name
    find(body, "touch(").mark(f"USE({label})")
    find(put_body, "[index] = item").mark(f"LOSS({label}) {slots}[{index}] | {slots}[index]")
    return name


def thrown_past(p: Program, item: Item, source: str) -> str:
    """C++: an exception leaves the function that owns the item."""
    p.includes.add("<stdexcept>")
    check, inner = p.name("check"), p.name("handle")
    p.add_function(lines(f"""
static void {check}(long value) {{
  if (value > 0) throw std::runtime_error("failed");
}}"""))
    body = lines(f"""
static void {inner}() {{
  {item.type} item = {source}();
  {touch(item)}
  {check}(opaque(1));
  {item.drop()}(item);
}}""")
    p.add_function(body)
    name, _ = story(p, f"""
STORY {{
  try {{
    {inner}();
  }} catch (const std::exception&) {{
  }}
}}""")
    label = p.add_label("lost", [item.root], 1, "escaped-throw").name
    find(body, "touch(").mark(f"USE({label})")
    find(body, f"{check}(opaque(1))").mark(f"LOSS({label}) item")
    return name


def caught_and_freed(p: Program, item: Item, source: str) -> str:
    """C++: an exception passes, and the handler or an owner frees."""
    if not item.drops_clean:
        return holder_freed(p, item, source)
    p.includes |= {"<memory>", "<stdexcept>"}
    inner, drop = p.name("handle"), item.drop()
    target = item.type.removesuffix("*")
    p.add_function(lines(f"""
static void {inner}() {{
  std::unique_ptr<{target}, void (*)({item.type})> owner({source}(), {drop});
  {touch(item, "owner.get()")}
  if (opaque(1)) throw std::runtime_error("failed");
}}"""))
    name, _ = story(p, f"""
STORY {{
  try {{
    {inner}();
  }} catch (const std::exception&) {{
  }}
}}""")
    return name


def release_discarded(p: Program, item: Item, source: str) -> str:
    """C++: unique_ptr::release() and nobody takes the result."""
    p.includes.add("<memory>")
    drop = item.drop()
    target = item.type.removesuffix("*")
    name, body = story(p, f"""
STORY {{
  std::unique_ptr<{target}, void (*)({item.type})> owner({source}(), {drop});
  {touch(item, "owner.get()")}
  owner.release();
}}""")
    label = p.add_label("lost", [item.root], 1, "discarded").name
    find(body, "touch(").mark(f"USE({label})")
    find(body, "owner.release()").mark(f"LOSS({label}) owner")
    return name


CLEAN: tuple[Fate, ...] = (freed, freed, freed_on_both_paths, freed_in_loop, forgotten)
LEAKY: tuple[Fate, ...] = (scope_end, early_return, error_path, overwritten, overwritten_in_loop,
                           discarded, box_freed, holder_freed, holder_freed, reference_kept,
                           slot_overwritten)
CXX_CLEAN: tuple[Fate, ...] = (*CLEAN, caught_and_freed)
CXX_LEAKY: tuple[Fate, ...] = (*[f for f in LEAKY if f not in (error_path,)], thrown_past,
                               release_discarded)


def random_fate(p: Program, leaky: bool) -> Fate:
    if p.is_cxx:
        return p.random.choice(CXX_LEAKY if leaky else CXX_CLEAN)
    return p.random.choice(LEAKY if leaky else CLEAN)
