// Answers on a Unix socket: one snapshot for each connection of the owner or
// of root. Nothing here ever waits for long: the epochs go on.
#pragma once

#include "common/sys.h"
#include "watch/snapshot_writer.h"

namespace plumb::rt {

class Server {
 public:
  // No socket is no failure: the file has the snapshots.
  void listen(const char* path);
  void close();

  // Answers whoever has come meanwhile; `facts` is called for each.
  template <typename Facts>
  void serve(Facts facts) {
    for (int client = accept(); client >= 0; client = accept()) {
      if (asks_for_snapshot(client)) {
        const Snapshot snapshot(facts());
        if (snapshot.is_there()) send(client, snapshot.data(), snapshot.size());
      }
      sys_close(client);
    }
  }

 private:
  int accept();
  static bool asks_for_snapshot(int client);
  static void send(int client, const char* from, size_t size);

  int socket_ = -1;
  const char* path_ = nullptr;
};

}  // namespace plumb::rt
