/* A list that a variable holds, and texts that only its nodes hold; one block is lost beside. */
#include <stdlib.h>
#include <string.h>

struct node {
  struct node* next;
  char* text;
};

static struct node* g_list;

static void put(const char* text) {
  struct node* node = malloc(sizeof *node);
  node->next = g_list;
  node->text = strdup(text);
  g_list = node;
}

static size_t measure(void) {
  size_t sum = 0;
  for (struct node* at = g_list; at != NULL; at = at->next) sum += strlen(at->text);
  return sum;
}

static void lose(void) {
  char* volatile gone = malloc(40);
  gone[0] = 1;
  g_list->text[0] = 'x'; /* what is kept may hold what is lost for a while */
}

int main(void) {
  put("one");
  put("two");
  lose();
  return measure() == 6 ? 0 : 1;
}
