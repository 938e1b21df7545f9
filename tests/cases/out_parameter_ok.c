// CASE: An out-parameter is freed before it is filled again.
// EXPECT: none
#include "case.h"

static void default_name(char** out) {
  *out = malloc(18);
  strcpy(*out, "default");
}

static void real_name(char** out) {
  free(*out);
  *out = malloc(10);
  strcpy(*out, "real");
}

static void run(void) {
  char* name;
  default_name(&name);
  touch(name);
  real_name(&name);
  touch(name);
  free(name);
}

int main(void) { run(); }
