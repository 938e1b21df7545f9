// The watching thread: epochs, the sampling rate, snapshots, and whoever asks
// for one on the socket.
//
// The program must not notice it. It is no thread of libc's (no pthread, no
// TLS of its own, so nothing in it may use libc beyond memcpy), takes no
// signal, and has its own table of descriptors and its own umask: a program
// that counts descriptors, closes all of them or waits for the end of a pipe
// sees no difference. When the program gives up rights, so does the thread.
//
// It sleeps on a futex; a process that uses no CPU time wakes it once a second
// and makes nothing stale.
#pragma once

#include <stdint.h>

#include "trace/watch_record.h"

namespace plumb::rt {

struct WatchSettings {
  uint64_t epoch = 1'000'000'000;      // CPU time
  uint64_t interval = 10'000'000'000;  // between snapshots, by the wall clock
  uint64_t mean = 64 << 10;            // bytes between samples, at least
  uint64_t search = 256 << 20;         // bytes to read at the end, for what is lost
  unsigned depth = 24;
  bool follow = false;    // children are watched, too
  int launcher = 0;       // the command's process
  char file[4096] = {};   // snapshots go here
  char socket[108] = {};  // and this is where one can be asked for
};
extern WatchSettings watch_settings;

// False: no thread could be started; nothing is seen but the allocations.
bool start_watcher();

// In the child of a fork, where the thread is not: its time goes on from the
// parent's.
bool restart_watcher();

// Has a thread of the program shut itself in (seccomp)? Its system calls are then those that
// it knows of. Asked of the watching thread, which has not; true when it does not answer.
bool is_shut_in();

// A last snapshot, with the touches up to now; waits until it is written, but
// not for ever.
void take_last_snapshot();

// The same, and the thread is gone afterwards.
void end_watcher();

// Without the thread: the program is not watched, or was not even started, and why.
void write_problem(PlumbWatchPhase phase, const char* problem);

}  // namespace plumb::rt
