// CASE: A member is freed before a whole struct is assigned over it.
// EXPECT: none
#include "case.h"

struct Text {
  char* data;
  size_t length;
};

static struct Text make_text(size_t length) {
  struct Text text = {malloc(length), length};
  text.data[0] = 't';
  return text;
}

static void replace(void) {
  struct Text text = make_text(30);
  touch(text.data);
  free(text.data);
  text = make_text(60);
  touch(text.data);
  free(text.data);
}

int main(void) { replace(); }
