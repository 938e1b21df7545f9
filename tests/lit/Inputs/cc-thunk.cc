// Names are made and lost in functions so small that their drops are not worth their code in line.
// With an argument everything is freed.
#include <cstdlib>

struct Name {
  char *text = nullptr;
  char *alias = nullptr;
};

void fill(Name &name);
void part();

#ifndef OTHER

bool frees;

// Calls nothing: its numbers may be below the stack pointer.
__attribute__((noinline)) int forget(Name &name) {
  volatile int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
  name.text = nullptr;
  name.alias = nullptr;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += numbers[i];
  return sum;
}

int main(int argc, char **) {
  frees = argc > 1;
  Name name;
  fill(name);
  if (frees) std::free(name.text);
  if (frees) std::free(name.alias);
  const int sum = forget(name);
  part();
  return sum == 36 ? 0 : 1;
}

#else

extern bool frees;

void fill(Name &name) {
  name.text = static_cast<char *>(std::malloc(40));
  name.alias = static_cast<char *>(std::malloc(48));
}

void part() {
  Name name;
  fill(name);
  if (!frees) return;
  std::free(name.text);
  std::free(name.alias);
}

#endif
