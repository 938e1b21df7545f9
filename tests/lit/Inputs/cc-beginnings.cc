// What a constructor writes first loses nothing, what it writes later may.
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>

__attribute__((noinline)) char *made(std::size_t bytes) {
  char *text = static_cast<char *>(std::malloc(bytes));
  text[0] = 'x';
  return text;
}

struct Names {
  Names(char *first, char *second);
  char *first, *second;
};
Names::Names(char *a, char *b) : first(a), second(b) {}

struct Twice {
  explicit Twice(bool again);
  char *text;
};
Twice::Twice(bool again) : text(made(40)) {
  if (again) text = made(48);
}

// Another constructor of the same object was there before.
struct Delegating {
  Delegating() : text(made(56)) {}
  explicit Delegating(char *other);
  char *text;
};
Delegating::Delegating(char *other) : Delegating() { text = other; }

// The length of a library's string is a number.
void shorten(std::string &text) { text.clear(); }

void show(std::ostream &out) { out << "text" << std::string_view("more"); }

struct Block {
  char bytes[64];
};
__attribute__((noinline)) Block &block() { return *new Block(); }
__attribute__((noinline)) void discard() { block(); }

__attribute__((noinline)) void construct_twice() {
  Twice twice(true);
  std::free(twice.text);
}
__attribute__((noinline)) void delegate() {
  Delegating delegating(made(24));
  std::free(delegating.text);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (std::strcmp(how, "twice") == 0) construct_twice();
  if (std::strcmp(how, "delegating") == 0) delegate();
  if (std::strcmp(how, "reference") == 0) discard();
  Names names(made(8), made(16));
  std::free(names.first);
  std::free(names.second);
}
