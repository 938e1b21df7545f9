// CASE: The result of unique_ptr::release is deleted.
// EXPECT: none
#include <memory>

#include "case.h"

struct Session {
  long id, user, state;
};

static void close_session(std::unique_ptr<Session> session) {
  touch(session.get());
  delete session.release();
}

int main() { close_session(std::make_unique<Session>()); }
