// What two structures agree on: a block that one says is the program's own and that the other
// says is to be freed; and one that hangs on an argument, if there is one.
#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(GuardedFree, ByAFieldOfAnotherStructure) {
  expect_by_name(std::string(kHeader) + R"(
struct pool; char *pool_take(struct pool *pool, const char *text);
struct pattern { struct pool *pool; int steps; };
struct parser { struct pool *pool; struct pattern *pattern; const char *at; };
#define RELEASE(p, text) if ((p)->pattern->pool == NULL) free(text)
static char *scan(struct parser *p) {
  if (p->pool) return pool_take(p->pool, p->at);
  return strdup(p->at);
}
int pooled_ok(struct parser *p) {
  char *name = scan(p);
  if (!name) return -1;
  if (p->at[0] == ':') { RELEASE(p, name); return -1; }
  p->pattern->steps++;
  RELEASE(p, name);
  return 0;
}
int pooled_bad(struct parser *p) {
  char *name = scan(p);
  if (!name) return -1;
  if (p->at[0] == ':') return -1;
  RELEASE(p, name);
  return 0;
}
int asked_bad(struct parser *p, int quick) {
  char *name = scan(p);
  if (!name) return -1;
  if (quick) free(name);
  return p->pattern->steps;
}
int known_bad(struct parser *p) {
  char *name = scan(p);
  if (!name) return -1;
  if (p->pattern->pool == NULL) return -1;
  RELEASE(p, name);
  return 0;
}
)");
}

TEST(GuardedFree, OfWhatHangsOnAnArgument) {
  expect_by_name(std::string(kHeader) + R"(
struct ns { struct ns *next; int mode; };
struct node { struct ns *list; };
struct context { struct node *node; };
static struct ns *ns_new(struct node *node, int mode) {
  struct ns *ns = malloc(sizeof *ns);
  if (!ns) return NULL;
  ns->mode = mode;
  ns->next = NULL;
  if (node == NULL) return ns;
  if (node->list == NULL) node->list = ns;
  else {
    struct ns *last = node->list;
    while (last->next) last = last->next;
    last->next = ns;
  }
  return ns;
}
void hung_ok(struct context *c) {
  struct ns *ns = ns_new(c->node, 1);
  if (ns) ns->mode = 2;
}
int alone_bad(void) {
  struct ns *ns = ns_new(NULL, 1);
  return ns ? ns->mode : 0;
}
int none_bad(struct context *c) {
  if (c->node) return 0;
  struct ns *ns = ns_new(c->node, 1);
  return ns ? ns->mode : 0;
}
)");
}

}  // namespace
}  // namespace plumb::check
