// CASE: A struct is freed without the string that only it holds.
// EXPECT: lost 1 block 20 bytes
// CAUSE: holder-freed
// GAP(run, -O2): holder - the debug information has no variable there
// GAP(run, -O2): cause - the optimiser left only a register, which ends with its last use
#include "case.h"

struct Person {
  char* name;
  int age;
};

static struct Person* make_person(void) {
  struct Person* person = malloc(sizeof *person);
  person->name = malloc(20);  // ALLOC
  strcpy(person->name, "Ada");
  person->age = 36;
  return person;
}

static void visit(void) {
  struct Person* person = make_person();
  touch(person->name);  // USE
  free(person);         // LOSS person->name
}

int main(void) { visit(); }
