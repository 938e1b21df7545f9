"""What generated programs own: strings, records, lists, arrays, tables, counted objects.

An item knows the functions that make and drop it, and its blocks as a tree of
parts. Functions that are only needed for some fates (drop, shallow drop) are
written when first asked for, so that no function of a program is unused. Every
maker touches what it made, each in its own way: an optimiser must neither
delete what is never used nor merge two makers into one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from program import Line, Part, Program


@dataclass
class Shallow:
    """A wrong way to drop an item: frees the root and loses what hung on it."""

    function: str
    loss: Line  # the line that frees the root
    holders: str
    parts: list[Part]


@dataclass
class Item:
    program: Program
    type: str  # of the handle, with its star: "struct List_3*"
    make: str  # function without parameters
    root: Part
    touch: str  # expression for touch(), with {} for the handle
    write_drop: Callable[[], str]
    write_shallow: Callable[[], Shallow] | None = None
    # Writes a function that takes a further reference; drop then gives one back.
    write_keep: Callable[[], str] | None = None
    drops_clean: bool = True  # False: its own drop loses something, use the shallow one
    _drop: str | None = field(default=None, repr=False)

    def drop(self) -> str:
        if self._drop is None:
            self._drop = self.write_drop()
        return self._drop


def lines(text: str) -> list[Line]:
    return [Line(row) for row in text.strip("\n").splitlines()]


def find(body: list[Line], text: str) -> Line:
    [line] = [line for line in body if text in line.text]
    return line


# ------------------------------------------------------------------ C

def c_bytes(p: Program) -> Item:
    make = p.name("make_bytes")
    size = p.random.randint(1, 400)
    style = p.random.choice(["malloc", "calloc", "strdup", "realloc", "memalign"])
    if style == "strdup":
        word = "x" * p.random.randint(1, 30)
        size = len(word) + 1
        call = f'char* text = strdup("{word}");'
    elif style == "realloc":
        call = f"text = realloc(text, {size}); text[0] = 'r';"
    elif style == "memalign":
        call = f"char* text = aligned_alloc(64, {64 * (1 + size // 64)}); text[0] = 'm';"
        size = 64 * (1 + size // 64)
    elif style == "calloc":
        call = f"char* text = calloc({size}, 1);"
    else:
        call = f"char* text = malloc({size}); text[0] = 'm';"
    first = ["  char* text = malloc(1);"] if style == "realloc" else []
    body = lines("\n".join([f"static char* {make}(void) {{", *first, f"  {call}",
                            f"  {p.touch('text')}", "  return text;", "}"]))
    p.add_function(body)

    return Item(p, "char*", make, Part(find(body, call), 1, size), "{}", lambda: "free")


def c_record(p: Program, depth: int = 0) -> Item:
    kinds = [c_bytes] if depth >= 2 else [c_bytes, c_bytes, c_record_below(depth)]
    fields = [p.random.choice(kinds)(p) for _ in range(p.random.randint(1, 3))]
    pads = p.random.randint(0, 4)
    name = p.name("Record")
    p.add_type(f"struct {name} {{",
               *[f"  {item.type} f{i};" for i, item in enumerate(fields)],
               f"  long pad[{pads + 1}];", "};")
    make = p.name("make_record")
    sets = [f"  r->f{i} = {item.make}();" for i, item in enumerate(fields)]
    p.random.shuffle(sets)
    body = lines("\n".join([f"static struct {name}* {make}(void) {{",
                            f"  struct {name}* r = calloc(1, sizeof *r);", *sets,
                            "  r->pad[0] = 1;", f"  {p.touch('r')}", "  return r;", "}"]))
    p.add_function(body)
    root = Part(find(body, "calloc"), 1, 8 * (len(fields) + pads + 1),
                [item.root for item in fields])

    def write_drop() -> str:
        drop = p.name("drop_record")
        frees = [f"  {item.drop()}(r->f{i});" for i, item in enumerate(fields)]
        p.random.shuffle(frees)
        p.add_function(lines("\n".join([f"static void {drop}(struct {name}* r) {{", *frees,
                                        "  free(r);", "}"])))
        return drop

    def write_shallow() -> Shallow:
        lost = [i for i in range(len(fields)) if p.random.random() < 0.5] or [0]
        drop = p.name("drop_some")
        frees = [f"  {item.drop()}(r->f{i});" for i, item in enumerate(fields) if i not in lost]
        body = lines("\n".join([f"static void {drop}(struct {name}* r) {{", *frees,
                                f"  {p.touch('r')}",
                                "  free(r);", "}"]))
        p.add_function(body)
        return Shallow(drop, find(body, "free(r);"), " | ".join(f"r->f{i}" for i in lost),
                       [fields[i].root for i in lost])

    return Item(p, f"struct {name}*", make, root, "{}", write_drop, write_shallow)


def c_record_below(depth: int) -> Callable[[Program], Item]:
    return lambda p: c_record(p, depth + 1)


def c_list(p: Program) -> Item:
    name, make = p.name("Node"), p.name("make_list")
    count, size = p.random.randint(2, 6), p.random.randint(1, 40)
    double = p.random.random() < 0.4  # linked both ways: every two nodes are a cycle
    payload = p.random.random() < 0.5
    p.add_type(f"struct {name} {{", f"  struct {name}* next;",
               f"  struct {name}* previous;" if double else "  long number;",
               "  char* payload;", "};")
    link = "if (head) head->previous = n;" if double else "n->number = i;"
    fill = f"n->payload = malloc({size}); n->payload[0] = 'p';" if payload else "n->payload = NULL;"
    body = lines(f"""
static struct {name}* {make}(void) {{
  struct {name}* head = NULL;
  for (long i = 0; i < opaque({count}); i++) {{
    struct {name}* n = calloc(1, sizeof *n);
    {fill}
    n->next = head;
    {link}
    head = n;
  }}
  {p.touch("head")}
  return head;
}}""")
    p.add_function(body)
    node = find(body, "calloc")
    rest = Part(node, count - 1, 24)
    root = Part(node, 1, 24, [rest])
    if payload:
        root.parts.append(Part(find(body, fill), 1, size))
        rest.parts.append(Part(find(body, fill), count - 1, size))

    def write_drop() -> str:
        drop = p.name("drop_list")
        p.add_function(lines(f"""
static void {drop}(struct {name}* head) {{
  while (head) {{
    struct {name}* next = head->next;
    free(head->payload);
    free(head);
    head = next;
  }}
}}"""))
        return drop

    def write_shallow() -> Shallow:
        drop = p.name("drop_head")
        # A pointer back to freed memory would name whatever comes to live there.
        unlink = "head->next->previous = NULL;" if double else "touch(head->next);"
        body = lines(f"""
static void {drop}(struct {name}* head) {{
  {p.touch("head")}
  {unlink}
  free(head);
}}""")
        p.add_function(body)
        # What was reached from the head only: the second node, and its payload.
        second = Part(node, 1, 24, [Part(node, count - 2, 24)] if count > 2 else [])
        parts = [second]
        if payload:
            line = find_payload(root)
            second.parts.append(Part(line, count - 1, size))
            parts.append(Part(line, 1, size))
        return Shallow(drop, find(body, "free(head)"), "head->next | head->payload"
                       if payload else "head->next", parts)

    return Item(p, f"struct {name}*", make, root, "{}->next", write_drop, write_shallow)


def find_payload(root: Part) -> Line:
    return root.parts[1].line


def c_array(p: Program) -> Item:
    element = p.random.choice([c_bytes, c_record])(p)
    make, count = p.name("make_array"), p.random.randint(1, 5)
    body = lines(f"""
static {element.type}* {make}(void) {{
  {element.type}* all = calloc({count}, sizeof *all);
  for (long i = 0; i < opaque({count}); i++) all[i] = {element.make}();
  {p.touch("all")}
  return all;
}}""")
    p.add_function(body)
    elements = times(element.root, count)
    root = Part(find(body, "calloc"), 1, 8 * count, [elements])

    def write_drop() -> str:
        drop = p.name("drop_array")
        inner = element.drop()
        p.add_function(lines(f"""
static void {drop}({element.type}* all) {{
  for (long i = 0; i < opaque({count}); i++) {inner}(all[i]);
  free(all);
}}"""))
        return drop

    def write_shallow() -> Shallow:
        drop = p.name("drop_frame")
        body = lines(f"""
static void {drop}({element.type}* all) {{
  {p.touch("all")}
  free(all);
}}""")
        p.add_function(body)
        return Shallow(drop, find(body, "free(all)"),
                       " | ".join(f"all[{i}]" for i in range(count)), [elements])

    return Item(p, f"{element.type}*", make, root, "{}[0]", write_drop, write_shallow)


def times(part: Part, count: int) -> Part:
    return Part(part.line, part.count * count, part.size, [times(q, count) for q in part.parts])


def c_table(p: Program) -> Item:
    name, make = p.name("Table"), p.name("make_table")
    buckets, count = p.random.randint(1, 4), p.random.randint(1, 7)
    p.add_type(f"struct {name}Entry {{", f"  struct {name}Entry* next;", "  char* key;", "};",
               f"struct {name} {{", f"  struct {name}Entry** buckets;", "  long count;", "};")
    insert = p.name("insert")
    body = lines(f"""
static void {insert}(struct {name}* t, long number) {{
  struct {name}Entry* e = malloc(sizeof *e);
  e->key = malloc(12);
  e->key[0] = (char)('a' + number);
  {p.touch("e")}
  e->next = t->buckets[number % {buckets}];
  t->buckets[number % {buckets}] = e;
  t->count++;
}}""")
    p.add_function(body)
    maker = lines(f"""
static struct {name}* {make}(void) {{
  struct {name}* t = calloc(1, sizeof *t);
  t->buckets = calloc({buckets}, sizeof *t->buckets);
  for (long i = 0; i < opaque({count}); i++) {insert}(t, i);
  {p.touch("t")}
  return t;
}}""")
    p.add_function(maker)
    entries = Part(find(body, "malloc(sizeof"), count, 16,
                   [Part(find(body, "malloc(12)"), count, 12)])
    array = Part(find(maker, "t->buckets = "), 1, 8 * buckets, [entries])
    root = Part(find(maker, "sizeof *t)"), 1, 16, [array])

    def write(stem: str, free_keys: bool) -> tuple[str, list[Line]]:
        drop = p.name(stem)
        body = lines(f"""
static void {drop}(struct {name}* t) {{
  for (long i = 0; i < {buckets}; i++) {{
    while (t->buckets[i]) {{
      struct {name}Entry* e = t->buckets[i];
      t->buckets[i] = e->next;
      {"free(e->key);" if free_keys else p.touch("e->key")}
      free(e);
    }}
  }}
  free(t->buckets);
  free(t);
}}""")
        p.add_function(body)
        return drop, body

    def write_shallow() -> Shallow:
        drop, body = write("drop_entries", free_keys=False)
        return Shallow(drop, find(body, "free(e);"), "e->key", entries.parts)

    return Item(p, f"struct {name}*", make, root, "{}", lambda: write("drop_table", True)[0],
                write_shallow)


def c_counted(p: Program) -> Item:
    name, make = p.name("Counted"), p.name("make_counted")
    size = p.random.randint(1, 100)
    p.add_type(f"struct {name} {{", "  long references;", "  char* body;", "};")
    body = lines(f"""
static struct {name}* {make}(void) {{
  struct {name}* c = calloc(1, sizeof *c);
  c->body = calloc(1, {size});
  c->references = 1;
  {p.touch("c")}
  return c;
}}""")
    p.add_function(body)

    def write_drop() -> str:
        drop = p.name("put")
        p.add_function(lines(f"""
static void {drop}(struct {name}* c) {{
  if (--c->references > 0) return;
  free(c->body);
  free(c);
}}"""))
        return drop

    def write_keep() -> str:
        keep = p.name("keep")
        p.add_function(lines(f"""
static struct {name}* {keep}(struct {name}* c) {{
  c->references++;
  return c;
}}"""))
        return keep

    root = Part(find(body, "sizeof *c"), 1, 16, [Part(find(body, "c->body ="), 1, size)])
    return Item(p, f"struct {name}*", make, root, "{}->body", write_drop, write_keep=write_keep)


# ---------------------------------------------------------------- C++

def cxx_plain(p: Program) -> Item:
    make, count = p.name("make_plain"), p.random.randint(1, 60)
    kind, size = p.random.choice([("char", 1), ("long", 8), ("double", 8)])
    array = p.random.random() < 0.6
    count = count if array else 1
    call = f"new {kind}[{count}]()" if array else f"new {kind}()"
    body = lines(f"""
static {kind}* {make}() {{
  {kind}* value = {call};
  {p.touch("value")}
  return value;
}}""")
    p.add_function(body)

    def write_drop() -> str:
        drop = p.name("drop_plain")
        p.add_function(lines(f"""
static void {drop}({kind}* value) {{
  delete{"[]" if array else ""} value;
}}"""))
        return drop

    return Item(p, f"{kind}*", make, Part(find(body, "new"), 1, size * count), "{}", write_drop)


def cxx_class(p: Program, depth: int = 0) -> Item:
    """An object whose constructor makes its raw members and whose destructor drops them."""
    kinds = [cxx_plain] if depth >= 2 else [cxx_plain, lambda q: cxx_class(q, depth + 1)]
    fields = [p.random.choice(kinds)(p) for _ in range(p.random.randint(1, 3))]
    name, make = p.name("Object"), p.name("make_object")
    virtual = p.random.random() < 0.5
    forgets = {i for i in range(len(fields)) if depth == 0 and p.random.random() < 0.25}
    body = lines("\n".join([
        f"class {name} {{", " public:", f"  {name}() {{",
        *[f"    f{i}_ = {item.make}();" for i, item in enumerate(fields)], "  }",
        f"  {'virtual ' if virtual else ''}~{name}() {{",
        *[f"    {item.drop()}(f{i}_);" for i, item in enumerate(fields) if i not in forgets],
        "  }", f"  {name}(const {name}&) = delete;",
        f"  {name}& operator=(const {name}&) = delete;", " private:",
        *[f"  {item.type} f{i}_;" for i, item in enumerate(fields)], "};"]))
    p.add_function(body)
    maker = lines(f"""
static {name}* {make}() {{
  {name}* object = new {name};
  {p.touch("object")}
  return object;
}}""")
    p.add_function(maker)
    size = 8 * (len(fields) + virtual)
    root = Part(find(maker, "new"), 1, size, [item.root for item in fields])

    def write(stem: str) -> tuple[str, list[Line]]:
        drop = p.name(stem)
        body = lines(f"""
static void {drop}({name}* object) {{
  {p.touch("object")}
  delete object;
}}""")
        p.add_function(body)
        return drop, body

    def write_shallow() -> Shallow:
        drop, body = write("delete_object")
        return Shallow(drop, find(body, "delete object"),
                       " | ".join(f"object->f{i}_" for i in sorted(forgets)),
                       [fields[i].root for i in sorted(forgets)])

    return Item(p, f"{name}*", make, root, "{}", lambda: write("drop_object")[0],
                write_shallow if forgets else None, drops_clean=not forgets)


def cxx_vector(p: Program) -> Item:
    """A vector of raw pointers on the heap."""
    p.includes.add("<vector>")
    element = cxx_plain(p)
    make, count = p.name("make_vector"), p.random.randint(1, 6)
    kind = f"std::vector<{element.type}>"
    body = lines(f"""
static {kind}* {make}() {{
  {kind}* all = new {kind};
  all->reserve({count});
  for (long i = 0; i < opaque({count}); i++) all->push_back({element.make}());
  {p.touch("all")}
  return all;
}}""")
    p.add_function(body)
    elements = times(element.root, count)
    root = Part(find(body, "new"), 1, 24, [Part(find(body, "reserve"), 1, 8 * count, [elements])])

    def write(stem: str, inner: str) -> tuple[str, list[Line]]:
        drop = p.name(stem)
        body = lines(f"""
static void {drop}({kind}* all) {{
  for ({element.type} one : *all) {inner}(one);
  {p.touch("all")}
  delete all;
}}""")
        p.add_function(body)
        return drop, body

    def write_shallow() -> Shallow:
        drop, body = write("drop_vector_only", "touch")
        return Shallow(drop, find(body, "delete all"),
                       " | ".join(f"(*all)[{i}]" for i in range(count)), [elements])

    return Item(p, f"{kind}*", make, root, "{}->front()",
                lambda: write("drop_vector", element.drop())[0], write_shallow)


def cxx_map(p: Program) -> Item:
    """A map with raw pointers as values, on the heap."""
    p.includes.add("<map>")
    element = cxx_plain(p)
    make, count = p.name("make_map"), p.random.randint(1, 5)
    kind = f"std::map<long, {element.type}>"
    body = lines(f"""
static {kind}* {make}() {{
  {kind}* all = new {kind};
  for (long i = 0; i < opaque({count}); i++) all->emplace(i, nullptr);
  for (auto& entry : *all) entry.second = {element.make}();
  {p.touch("all")}
  return all;
}}""")
    p.add_function(body)
    elements = times(element.root, count)
    # A node of libstdc++: colour, three links, key and value.
    root = Part(find(body, "new"), 1, 48, [Part(find(body, "emplace"), count, 48, [elements])])

    def write(stem: str, inner: str) -> tuple[str, list[Line]]:
        drop = p.name(stem)
        body = lines(f"""
static void {drop}({kind}* all) {{
  for (auto& entry : *all) {inner}(entry.second);
  {p.touch("all")}
  delete all;
}}""")
        p.add_function(body)
        return drop, body

    def write_shallow() -> Shallow:
        drop, body = write("drop_map_only", "touch")
        return Shallow(drop, find(body, "delete all"), "", [elements])

    return Item(p, f"{kind}*", make, root, "{}", lambda: write("drop_map", element.drop())[0],
                write_shallow)


C_ITEMS = (c_bytes, c_bytes, c_record, c_list, c_array, c_table, c_counted)
CXX_ITEMS = (cxx_plain, cxx_plain, cxx_class, cxx_vector, cxx_map)


def random_item(p: Program) -> Item:
    return p.random.choice(CXX_ITEMS if p.is_cxx else C_ITEMS)(p)
