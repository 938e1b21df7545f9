// CASE: transmission's web task: the data for its callback goes with the task.
// EXPECT: lost 1 block 20 bytes
// CAUSE: holder-freed
// GAP(run, -O2, clang-19): holder - the task's register is gone when its memory is freed
// GAP(check): found - the callback is not known, and might free it
#include "case.h"

struct Task {
  void (*done_func)(void* user_data);
  void* done_func_user_data;
  char* url;
  struct Task* next;
};

static struct Task* tasks;

static void add_task(const char* url, void (*done)(void*), void* user_data) {
  struct Task* task = calloc(1, sizeof *task);
  task->url = strdup(url);
  task->done_func = done;
  task->done_func_user_data = user_data;
  task->next = tasks;
  tasks = task;
}

static void on_stopped_response(void* torrent_hash) {
  touch(torrent_hash);  // USE
}

static void on_scrape_response(void* torrent_hash) { free(torrent_hash); }

static void invoke_request(const char* url, void (*done)(void*)) {
  unsigned char* hash = calloc(1, 20);  // ALLOC
  hash[0] = 'h';
  add_task(url, done, hash);
}

static void process_completed_tasks(void) {
  while (tasks) {
    struct Task* task = tasks;
    tasks = task->next;
    task->done_func(task->done_func_user_data);  // USE
    free(task->url);
    free(task);  // LOSS task->done_func_user_data
  }
}

int main(void) {
  invoke_request("http://tracker/stop", on_stopped_response);
  invoke_request("http://tracker/scrape", on_scrape_response);
  process_completed_tasks();
  return 0;
}
