// An object with several pointers goes out of scope, by the way that the argument says; one of
// them is the last reference to a block.
#include <cstdlib>
#include <cstring>

struct Names {
  char *first, *second, *third, *fourth;
};

__attribute__((noinline)) void fill(Names &names, const char *how) {
  names = {};
  if (std::strcmp(how, "second") == 0) names.second = static_cast<char *>(std::malloc(40));
  if (std::strcmp(how, "fourth") == 0) names.fourth = static_cast<char *>(std::malloc(48));
  if (std::strcmp(how, "thrown") == 0) names.third = static_cast<char *>(std::malloc(56));
}

__attribute__((noinline)) void check(const char *how) {
  if (std::strcmp(how, "thrown") == 0) throw 1;
}

int visit(const char *how) {
  Names names;
  fill(names, how);
  if (std::strcmp(how, "second") == 0) return 0;
  check(how);
  if (std::strcmp(how, "fourth") == 0) return 0;
  std::free(names.first);
  return 0;
}

int main(int argc, char **argv) {
  try {
    return visit(argc > 1 ? argv[1] : "");
  } catch (int) {
    return 0;
  }
}
