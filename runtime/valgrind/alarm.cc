#include "valgrind/alarm.h"

#include "valgrind/reach.h"
#include "valgrind/stacks.h"

// Not in the tools' headers.
extern "C" Int VG_(kill)(Int pid, Int signal);

namespace plumb::vg {

OnLeak on_leak = OnLeak::wait;
SizeT leak_threshold = 1;
Int tell_file = 2;
bool alarm_wanted = false;

namespace {

SizeT told_bytes = 0;
SizeT gone_bytes = 0;
UInt next_look = 0;  // milliseconds of Valgrind's timer

// A tenth of the time at most.
constexpr UInt kShare = 10;

void say(const HChar* text) { VG_(write)(tell_file, text, static_cast<Int>(VG_(strlen)(text))); }

void say_stack(const HChar* title, StackId id) {
  watch::Frames frames;
  frames.count = 0;
  copy_frames(id, frames);
  say(title);
  for (unsigned i = 0; i < frames.count; ++i) {
    const HChar* place = VG_(describe_IP)(VG_(current_DiEpoch)(), frames.addresses[i] - 1, nullptr);
    if (VG_(strstr)(place, "(below main)") != nullptr) break;
    say("      ");
    say(place);
    say("\n");
  }
}

const HChar* words_for(Cause cause) {
  switch (cause) {
    case kOverwritten:
      return "the last reference was overwritten:\n";
    case kScopeEnd:
      return "the last reference went out of scope:\n";
    case kHolderFreed:
      return "what held the last reference was freed:\n";
    case kUnmapped:
      return "what held the last reference was unmapped:\n";
    case kThreadEnd:
      return "the last reference went with its thread:\n";
    case kDiscarded:
      return "nobody took the result:\n";
    case kEscapedThrow:
      return "an exception left the last reference's scope:\n";
    case kUnknownCause:
      break;
  }
  return "lost:\n";
}

void tell(const Block& it) {
  HChar line[160];
  VG_(snprintf)
  (line, sizeof line, "plumb: leak[lost]: %lu bytes in process %d; ", it.size, VG_(getpid)());
  say(line);
  say_stack(words_for(it.drop.cause), it.drop.stack);
  say_stack("    allocated:\n", it.allocation);
}

void act(ThreadId running) {
  HChar line[200];
  switch (on_leak) {
    case OnLeak::wait:
    case OnLeak::tell:
      return;
    case OnLeak::stop:
      VG_(snprintf)
      (line, sizeof line, "plumb: stopped here; kill -CONT %d goes on\n", VG_(getpid)());
      say(line);
      VG_(kill)(VG_(getpid)(), VKI_SIGSTOP);
      return;
    case OnLeak::abort:
      say("plumb: the program is ended here, as --on-leak=abort asks for\n");
      VG_(kill)(VG_(getpid)(), VKI_SIGABRT);
      on_leak = OnLeak::tell;
      return;
    case OnLeak::gdb:
      VG_(snprintf)
      (line, sizeof line,
       "plumb: waiting for gdb; start it on the program, then: target remote | vgdb --pid=%d\n",
       VG_(getpid)());
      say(line);
      VG_(gdbserver)(running);
      return;
  }
}

}  // namespace

void note_gone(BlockId id) {
  if (on_leak == OnLeak::wait) return;
  gone_bytes += block(id).size;
  alarm_wanted = true;
}

void look_for_losses(const VexGuestAMD64State* state, ThreadId running) {
  // Less than the threshold cannot be lost.
  if (told_bytes + gone_bytes < leak_threshold && gone_bytes < leak_threshold) return;
  const UInt begin = VG_(read_millisecond_timer)();
  if (begin < next_look) return;
  alarm_wanted = false;
  gone_bytes = 0;
  mark_now(state, running);
  SizeT bytes = 0;
  for (BlockId id = 1; id < block_end(); ++id) {
    const Block& it = block(id);
    if (it.state != kFreed && it.verdict == PLUMB_BLOCK_LIVE) bytes += it.size;
  }
  const UInt end = VG_(read_millisecond_timer)();
  next_look = end + (end - begin) * kShare;
  if (bytes < leak_threshold) {
    gone_bytes = bytes;  // lost, but not enough yet
    return;
  }
  bool any = false;
  for (BlockId id = 1; id < block_end(); ++id) {
    Block& it = block(id);
    if (it.state == kFreed || it.verdict != PLUMB_BLOCK_LIVE || it.told) continue;
    it.told = true;
    told_bytes += it.size;
    any = true;
    tell(it);
  }
  if (any) act(running);
}

}  // namespace plumb::vg
