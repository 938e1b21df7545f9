#include "run/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "run/own_limits.h"
#include "trace/record.h"

namespace plumb {

namespace {

// Room for 300 million live blocks; only what is used takes memory.
constexpr std::uint64_t kTraceSize = std::uint64_t{24} << 30;
constexpr std::uint64_t kLeastTrace = std::uint64_t{16}
                                      << 20;  // as in runtime/common/trace_file.cc

// Out of the way of the program's own descriptors until the runtime has mapped
// and closed it.
constexpr int kTraceFd = 900;
constexpr int kWantsFd = 901;
constexpr int kTellFd = 902;

constexpr std::array kForwarded = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};

volatile std::sig_atomic_t child_pid = 0;
volatile std::sig_atomic_t signals_seen = 0;
volatile std::sig_atomic_t look_on = 0;      // SIGUSR1 is for us
volatile std::sig_atomic_t look_wanted = 0;  // and came

void forward(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  if (signal == SIGUSR1 && look_on != 0) {
    look_wanted = 1;
    return;
  }
  signals_seen = 1;
  // From the terminal the whole foreground group got it, the program too.
  const bool everybody = info->si_code == SI_KERNEL;
  if (child_pid > 0 && !everybody) kill(static_cast<pid_t>(child_pid), signal);
  errno = saved;
}

// Passes signals on while it lives.
class Forwarding {
 public:
  Forwarding() {
    struct sigaction action{};
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (std::size_t i = 0; i < kForwarded.size(); ++i) {
      sigaction(kForwarded[i], nullptr, &old_[i]);
      // What we were told to ignore (nohup), the program ignores as well.
      if (old_[i].sa_handler != SIG_IGN) sigaction(kForwarded[i], &action, nullptr);
    }
  }
  ~Forwarding() {
    for (std::size_t i = 0; i < kForwarded.size(); ++i) {
      sigaction(kForwarded[i], &old_[i], nullptr);
    }
    child_pid = 0;
    look_on = 0;
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

 private:
  std::array<struct sigaction, kForwarded.size()> old_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Descriptor {  // ours, and the number that the program gets it under
  int ours = -1;
  int theirs = -1;
};

struct Prepared {  // all memory that the child needs, allocated before the fork
  const char* program;
  char* const* arguments;
  char* const* environment;
  Descriptor trace;
  Descriptor wants;
  Descriptor tell;
  int nowhere;  // /dev/null, or -1
  bool quiet;
  bool no_input;
  int failure_pipe;
  const sigset_t* mask;
};

// Without CLOEXEC: it must survive the exec.
bool place(const Descriptor& file) {
  if (file.ours < 0) return true;
  if (file.ours == file.theirs) return fcntl(file.ours, F_SETFD, 0) == 0;
  return dup2(file.ours, file.theirs) >= 0;
}

bool place_streams(const Prepared& prepared) {
  if (prepared.no_input && dup2(prepared.nowhere, STDIN_FILENO) < 0) return false;
  return !prepared.quiet ||
         (dup2(prepared.nowhere, STDOUT_FILENO) >= 0 && dup2(prepared.nowhere, STDERR_FILENO) >= 0);
}

[[noreturn]] void run_child(const Prepared& prepared) {
  if (place(prepared.trace) && place(prepared.wants) && place(prepared.tell) &&
      place_streams(prepared)) {
    OwnLimits::put_back();
    sigprocmask(SIG_SETMASK, prepared.mask, nullptr);
    execve(prepared.program, prepared.arguments, prepared.environment);
  }
  const int problem = errno;
  [[maybe_unused]] const ssize_t put = write(prepared.failure_pipe, &problem, sizeof problem);
  _exit(127);
}

// How far the runtime's sections reach; 0 when it has not written a header.
// Address space may be limited: the holes behind them are not mapped.
std::size_t used_size(int fd) {
  PlumbTraceHeader header{};
  struct stat info{};
  if (fstat(fd, &info) != 0 || pread(fd, &header, sizeof header, 0) != sizeof header ||
      std::memcmp(header.magic, PLUMB_TRACE_MAGIC, sizeof header.magic) != 0) {
    return 0;
  }
  const auto whole = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t size = sizeof header;
  for (const PlumbSection& section : header.sections) {
    std::uint64_t bytes = 0;
    std::uint64_t end = 0;
    if (__builtin_mul_overflow(std::min(section.used, section.capacity), section.item_size,
                               &bytes) ||
        __builtin_add_overflow(section.offset, bytes, &end)) {
      return whole;
    }
    size = std::max(size, end);
  }
  return std::min(size, whole);
}

Descriptor placed(int ours, int wanted) {
  if (ours < 0) return {};
  rlimit limit{};
  // Valgrind keeps the last few numbers for itself.
  constexpr rlim_t kSpare = 32;
  const bool room = getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
                    limit.rlim_cur > static_cast<rlim_t>(wanted) + kSpare;
  return {ours, room ? wanted : ours};
}

std::vector<std::string> arguments_for(const Launch& launch, int tell_fd) {
  if (launch.tool_folder.empty()) return launch.command;
  std::vector<std::string> words = {launch.tool_folder + "/plumb-amd64-linux",
                                    "--tool=plumb",
                                    "--command-line-only=yes",
                                    "-q",
                                    "--log-file=/dev/null",
                                    launch.on_leak == "gdb" ? "--vgdb=yes" : "--vgdb=no",
                                    "--child-silent-after-fork=yes",
                                    "--sigill-diagnostics=no",
                                    "--max-threads=2000"};
  if (launch.no_input) words.emplace_back("--no-input=yes");
  if (!launch.uses) words.emplace_back("--uses=no");
  if (!launch.on_leak.empty()) {
    words.push_back("--on-leak=" + launch.on_leak);
    words.push_back(fmt::format("--leak-threshold={}", launch.leak_threshold));
    words.push_back(fmt::format("--tell-file={}", tell_fd));
  }
  if (launch.pointer_mask != 0) {
    words.push_back(fmt::format("--pointer-mask={:#x}", launch.pointer_mask));
  }
  words.insert(words.end(), launch.command.begin(), launch.command.end());
  return words;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Looks at the program from time to time, until it ends or its time is over.
void attend(pid_t pid, int handle, const Launch& launch, Ended& ended) {
  constexpr double kLong = 1e6;
  constexpr double kNotice = 0.2;  // a request that came right before the wait
  const auto begin = std::chrono::steady_clock::now();
  double next_look = launch.look && launch.look_every > 0 ? launch.look_every : kLong;
  while (true) {
    const double now = seconds_since(begin);
    if (launch.limit > 0 && now >= launch.limit) {
      ended.over_limit = true;
      kill(pid, SIGKILL);
      return;
    }
    if (launch.look && (look_wanted != 0 || now >= next_look)) {
      look_wanted = 0;
      launch.look(pid);
      if (launch.look_every > 0) next_look = seconds_since(begin) + launch.look_every;
    }
    double left = std::min(launch.limit > 0 ? launch.limit - now : kLong, next_look - now);
    if (launch.look) left = std::min(left, kNotice);
    pollfd wanted{handle, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::max(left, 0.0) * 1000) + 1);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
  }
}

void wait_for(pid_t pid, const Launch& launch, Ended& ended) {
  if (launch.limit > 0 || launch.look) {
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (handle >= 0) {
      attend(pid, handle, launch, ended);
      close(handle);
    }
  }
  while (waitpid(pid, &ended.wait_status, 0) < 0 && errno == EINTR) {
  }
}

Result<Ended> launch_with(const Launch& launch, int trace_fd);

}  // namespace

Result<TraceMemory> TraceMemory::create() {
  TraceMemory memory;
  memory.fd_ = memfd_create("plumb-trace", MFD_CLOEXEC);
  if (memory.fd_ < 0) {
    return fail({}, fmt::format("cannot get memory for the trace: {}", std::strerror(errno)));
  }
  std::uint64_t size = kTraceSize;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) size = limit.rlim_cur;
  if (size < kLeastTrace) {
    return fail({}, "the size of files is limited: there is no room for the trace",
                "raise the limit (ulimit -f)");
  }
  if (ftruncate(memory.fd_, static_cast<off_t>(size)) != 0) {
    return fail({}, fmt::format("cannot get memory for the trace: {}", std::strerror(errno)),
                "is the file size limited (ulimit -f)?");
  }
  return memory;
}

Result<TraceMemory> TraceMemory::with(std::string_view content) {
  TraceMemory memory;
  memory.fd_ = memfd_create("plumb-wants", MFD_CLOEXEC);
  if (memory.fd_ < 0) {
    return fail({}, fmt::format("cannot get memory: {}", std::strerror(errno)));
  }
  while (!content.empty()) {
    const ssize_t put = write(memory.fd_, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail({}, fmt::format("cannot get memory: {}", std::strerror(errno)));
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return memory;
}

Result<TraceMemory> TraceMemory::second_look() const {
  TraceMemory memory;
  memory.fd_ = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (memory.fd_ < 0) return fail({}, fmt::format("cannot look: {}", std::strerror(errno)));
  return memory;
}

Result<TraceMemory> TraceMemory::of_file(const std::string& path) {
  TraceMemory memory;
  memory.fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (memory.fd_ < 0) return fail(path, std::strerror(errno));
  return memory;
}

TraceMemory::TraceMemory(TraceMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      map_(std::exchange(other.map_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

TraceMemory& TraceMemory::operator=(TraceMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  return *this;
}

TraceMemory::~TraceMemory() {
  if (map_ != nullptr) munmap(map_, size_);
  if (fd_ >= 0) close(fd_);
}

Result<std::span<const std::byte>> TraceMemory::bytes() {
  if (map_ == nullptr) {
    const std::size_t size = used_size(fd_);
    if (size == 0) return std::span<const std::byte>();
    void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    if (map == MAP_FAILED) {
      return fail({}, fmt::format("cannot read the trace: {}", std::strerror(errno)));
    }
    map_ = map;
    size_ = size;
  }
  return std::span(static_cast<const std::byte*>(map_), size_);
}

Status status_of(int wait_status) {
  Status status;
  if (WIFEXITED(wait_status)) status.code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) status.signal = WTERMSIG(wait_status);
  return status;
}

std::vector<std::string> runtime_environment(const char* const* environment, const Launch& launch,
                                             int trace_fd, int wants_fd) {
  std::vector<std::string> result;
  // The user's own preloads stay, before ours: one that looks at malloc and
  // passes it on still works.
  std::string preload;
  for (const std::string& more : launch.more_preloads) preload += more + ":";
  preload += launch.runtime;
  const bool tool = !launch.tool_folder.empty();
  bool bound = false;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(PLUMB_RUNTIME_VARIABLE "=")) continue;
    if (tool && entry.starts_with("VALGRIND_")) continue;
    bound = bound || entry.starts_with("LD_BIND_NOW=");
    if (entry.starts_with("LD_PRELOAD=")) {
      const std::string_view theirs = entry.substr(entry.find('=') + 1);
      if (!theirs.empty()) preload = fmt::format("{}:{}", theirs, preload);
      continue;
    }
    result.emplace_back(entry);
  }
  result.push_back("LD_PRELOAD=" + preload);
  std::string settings =
      !launch.settings.empty()
          ? fmt::format("{}={}", PLUMB_RUNTIME_VARIABLE, launch.settings)
          : fmt::format("{}=fd={}:depth={}:quick={}:scrub={}", PLUMB_RUNTIME_VARIABLE, trace_fd,
                        launch.stack_depth, launch.quick_stacks ? 1 : 0, launch.scrub ? 1 : 0);
  if (launch.settings.empty() && launch.pointer_mask != 0) {
    settings += fmt::format(":mask={}", launch.pointer_mask);
  }
  if (launch.settings.empty() && launch.look) settings += ":ask=1";
  if (launch.settings.empty()) settings += launch.more_settings;
  if (tool) {
    result.push_back("VALGRIND_LIB=" + launch.tool_folder);
    result.push_back("VALGRIND_LAUNCHER=" + launch.tool_folder + "/plumb-amd64-linux");
    // The loader's lazy binding saves all registers, stale ones too.
    if (!bound) result.emplace_back("LD_BIND_NOW=1");
    settings += fmt::format(":watch={}:bind={}", wants_fd, bound ? 0 : 1);
  }
  result.push_back(std::move(settings));
  result.insert(result.end(), launch.more_variables.begin(), launch.more_variables.end());
  return result;
}

Result<Ended> launch_and_wait(const Launch& launch, const TraceMemory& trace) {
  return launch_with(launch, trace.fd());
}
Result<Ended> launch_and_wait(const Launch& launch) { return launch_with(launch, -1); }

namespace {

Result<Ended> launch_with(const Launch& launch, int trace_fd) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return fail({}, fmt::format("cannot start: {}", std::strerror(errno)));
  }
  const Descriptor trace_file = placed(trace_fd, kTraceFd);
  const Descriptor wants_file = placed(launch.wants, kWantsFd);
  const int nowhere = launch.quiet || launch.no_input ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
  const bool tells = !launch.on_leak.empty() && !launch.tool_folder.empty();
  const Descriptor tell_file = placed(tells ? STDERR_FILENO : -1, kTellFd);
  std::vector<std::string> command = arguments_for(launch, tell_file.theirs);
  std::vector<std::string> environment =
      runtime_environment(environ, launch, trace_file.theirs, wants_file.theirs);
  const std::string program =
      launch.tool_folder.empty() ? launch.program : launch.tool_folder + "/plumb-amd64-linux";
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<char*> variables = pointers_to(environment);

  const OwnLimits limits;
  // No signal between the fork and the moment the child's number is known.
  sigset_t all;
  sigset_t old_mask;
  sigfillset(&all);
  const Forwarding forwarding;
  sigprocmask(SIG_SETMASK, &all, &old_mask);
  Ended ended;
  ended.started = std::chrono::system_clock::now();
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid == 0) {
    run_child({program.c_str(), arguments.data(), variables.data(), trace_file, wants_file,
               tell_file, nowhere, launch.quiet, launch.no_input, pipe_ends[1], &old_mask});
  }
  child_pid = pid;
  signals_seen = 0;
  look_wanted = 0;
  look_on = launch.look ? 1 : 0;
  if (nowhere >= 0) close(nowhere);
  sigprocmask(SIG_SETMASK, &old_mask, nullptr);
  close(pipe_ends[1]);
  if (pid < 0) {
    close(pipe_ends[0]);
    return fail({}, fmt::format("cannot start: {}", std::strerror(errno)));
  }

  int problem = 0;
  ssize_t got = 0;
  do got = read(pipe_ends[0], &problem, sizeof problem);
  while (got < 0 && errno == EINTR);
  close(pipe_ends[0]);
  if (got != sizeof problem && launch.on_start) launch.on_start(pid);
  wait_for(pid, launch, ended);
  if (got != sizeof problem && launch.on_end) launch.on_end();
  ended.from_outside = signals_seen != 0;
  if (got == sizeof problem) {
    return fail(program, fmt::format("cannot start: {}", std::strerror(problem)));
  }
  ended.pid = pid;
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ended;
}

}  // namespace

}  // namespace plumb
