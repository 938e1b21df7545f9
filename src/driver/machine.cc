#include "driver/machine.h"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb {

namespace {

// The descriptor NT_GNU_BUILD_ID among the notes of a segment, in hexadecimal.
std::string build_id_in(const char* notes, std::size_t size) {
  const auto padded = [](std::size_t length) { return (length + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const std::size_t name = sizeof header;
    const std::size_t value = name + padded(header.n_namesz);
    const std::size_t next = value + padded(header.n_descsz);
    if (next > size) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[value + i]));
      }
      return id;
    }
    notes += next;
    size -= next;
  }
  return {};
}

int visit_module(dl_phdr_info* info, std::size_t, void* result) {
  if (!base_name(info->dlpi_name).starts_with("libc.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    std::string id = build_id_in(notes, segment.p_memsz);
    if (id.empty()) continue;
    *static_cast<std::string*>(result) = std::move(id);
    return 1;
  }
  return 0;
}

}  // namespace

std::string libc_build_id() {
  std::string id;
  dl_iterate_phdr(visit_module, &id);
  return id;
}

std::string version_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') continue;
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", i), text.size());
    const std::string_view number = text.substr(i, end - i);
    if (number.find('.') != std::string_view::npos && number.back() != '.') {
      return std::string(number);
    }
    i = end;
  }
  return {};
}

std::string version_of_program(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  if (problem == 0) {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0) {
      // A version is in the first lines; the rest is only drained.
      if (output.size() < sizeof buffer) output.append(buffer, static_cast<std::size_t>(got));
    }
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  return version_in(output);
}

}  // namespace plumb
