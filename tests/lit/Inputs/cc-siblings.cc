#include <cstdio>
#include <cstdlib>

struct Item {
  char text[40];
};

__attribute__((noinline)) static char *make() { return static_cast<char *>(std::malloc(24)); }

__attribute__((noinline)) static void release(char *one) { std::free(one); }

__attribute__((noinline)) static Item *create() { return new Item(); }

__attribute__((noinline)) static void destroy(Item *item) { delete item; }

// A loop that is unrolled or peeled has several places that allocate.
static volatile int forgotten = 1;

int main(int count, char **) {
  for (int i = 0; i < count + 4; i++) {
    char *one = make();
    one[0] = 'a';
    if (i != forgotten) release(one);
  }
  for (int i = 0; i < count + 3; i++) {
    Item *item = create();
    std::snprintf(item->text, sizeof item->text, "%d", i);
    if (i != forgotten) destroy(item);
  }
}
