// Argument 1 says what it shuts itself into before it loses 24 bytes (and then 40).
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leak.h"

// Allows write, exit and brk; `rest` is what it says to everything else.
static int filter(int rest, int directly) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, (unsigned)rest),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  return directly ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0
                  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void use_up_descriptors(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 16;
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY) >= 0) {
  }
}

int main(int count, char **arguments) {
  const char *how = arguments[1];
  drop(make(24));
  int good = 1;
  if (!strcmp(how, "chroot")) good = chroot("/dev") == 0 && chdir("/") == 0;
  if (!strcmp(how, "killing")) good = filter((int)SECCOMP_RET_KILL_PROCESS, 0);
  if (!strcmp(how, "killing-directly")) good = filter((int)SECCOMP_RET_KILL_PROCESS, 1);
  if (!strcmp(how, "allowing")) good = filter(SECCOMP_RET_ALLOW, 1);
  if (!strcmp(how, "locked")) good = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  if (!strcmp(how, "descriptors")) use_up_descriptors();
  if (!good) _exit(77);
  drop(make(40));
  scrub();
  write(1, "done\n", 5);
  _exit(5);
}
