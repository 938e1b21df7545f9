// CASE: lighttpd's mod_rewrite, as it was mended: the context is made once.
// EXPECT: none
#include "case.h"

struct Context {
  long state;
  long loops;
};

struct Connection {
  void* plugin_ctx[4];
};

static struct Context* handler_ctx_init(void) {
  struct Context* context = calloc(1, sizeof *context);
  return context;
}

static int uri_handler(struct Connection* con, long id) {
  struct Context* hctx = con->plugin_ctx[id];
  if (hctx == 0) {
    hctx = handler_ctx_init();
    con->plugin_ctx[id] = hctx;
  }
  hctx->state = 1;
  touch(hctx);
  return 0;
}

static void connection_reset(struct Connection* con, long id) {
  free(con->plugin_ctx[id]);
  con->plugin_ctx[id] = 0;
}

int main(void) {
  struct Connection con = {{0}};
  uri_handler(&con, opaque(2));
  uri_handler(&con, opaque(2));
  connection_reset(&con, opaque(2));
  return 0;
}
