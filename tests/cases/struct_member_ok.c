// CASE: A struct is freed after the string that only it holds.
// EXPECT: none
#include "case.h"

struct Person {
  char* name;
  int age;
};

static struct Person* make_person(void) {
  struct Person* person = malloc(sizeof *person);
  person->name = malloc(20);
  strcpy(person->name, "Ada");
  person->age = 36;
  return person;
}

static void visit(void) {
  struct Person* person = make_person();
  touch(person->name);
  free(person->name);
  free(person);
}

int main(void) { visit(); }
