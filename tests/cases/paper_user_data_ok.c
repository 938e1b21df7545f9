// CASE: transmission's web task, as it was mended.
// EXPECT: none
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
  touch(torrent_hash);
  free(torrent_hash);
}

static void on_scrape_response(void* torrent_hash) { free(torrent_hash); }

static void invoke_request(const char* url, void (*done)(void*)) {
  unsigned char* hash = calloc(1, 20);
  hash[0] = 'h';
  add_task(url, done, hash);
}

static void process_completed_tasks(void) {
  while (tasks) {
    struct Task* task = tasks;
    tasks = task->next;
    task->done_func(task->done_func_user_data);
    free(task->url);
    free(task);
  }
}

int main(void) {
  invoke_request("http://tracker/stop", on_stopped_response);
  invoke_request("http://tracker/scrape", on_scrape_response);
  process_completed_tasks();
  return 0;
}
