// CASE: The result of unique_ptr::release is thrown away.
// EXPECT: lost 1 block 24 bytes
// CAUSE: discarded
// GAP(run): holder - the debug information has no variable there
// GAP(run, -O2): cause - the optimiser left only a register, which ends with its last use
// GAP(check): place, function, cause - lost in the callee, reported at the call
#include <memory>

#include "case.h"

struct Session {
  long id, user, state;
};

static void close_session(std::unique_ptr<Session> session) {
  touch(session.get());  // USE
  session.release();     // LOSS session
}

int main() { close_session(std::make_unique<Session>()); }  // ALLOC
