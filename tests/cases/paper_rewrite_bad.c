// CASE: lighttpd's mod_rewrite: a handler that runs twice sets its context anew.
// EXPECT: lost 1 block 16 bytes
// CAUSE: overwritten
// GAP(check): found - elements at an index that is not known are not told apart
#include "case.h"

struct Context {
  long state;
  long loops;
};

struct Connection {
  void* plugin_ctx[4];
};

static struct Context* handler_ctx_init(void) {
  struct Context* context = calloc(1, sizeof *context);  // ALLOC
  return context;
}

static int uri_handler(struct Connection* con, long id) {
  struct Context* hctx = handler_ctx_init();
  con->plugin_ctx[id] = hctx;  // LOSS con->plugin_ctx[id] | con->plugin_ctx[2] | con.plugin_ctx[2]
  hctx->state = 1;
  touch(hctx);  // USE
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
