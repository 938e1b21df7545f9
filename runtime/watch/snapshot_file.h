// The file that keeps the last snapshot, whatever becomes of the process.
//
// Each snapshot is written beside it and renamed: nobody sees half of one, and the
// old one stays when there is no room. A program that gives up its rights (a server
// that was started by root) takes away the folder, too. Just before, the file is
// written once more and kept open: from then on snapshots are put into it in place,
// beside the one before, and one small write says which is the last
// (PlumbWatchTurns).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "watch/snapshot_writer.h"

namespace plumb::rt {

class SnapshotFile {
 public:
  bool write(const char* path, const Snapshot& snapshot);
  // While the path can be written.
  void keep_open(const char* path, const Snapshot& snapshot);

 private:
  bool write_in_place(const Snapshot& snapshot);

  int kept_ = -1;
  uint64_t offset_ = 0;  // of the last snapshot in the kept file
  uint64_t size_ = 0;
};

}  // namespace plumb::rt
