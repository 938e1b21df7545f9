// A line on the terminal while something takes long: what is being done, for
// how many seconds. It appears after half a second and is erased before
// anything else is printed. Nothing at all when standard error is no terminal
// or --quiet was given.
//
// A thread draws it, since what takes long is one call. It must not live
// while the user's program runs, which owns the terminal then.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "driver/settings.h"

namespace plumb {

class Progress {
 public:
  Progress(const Settings& settings, const std::string& what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void draw(std::string what);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // not joinable when there is nothing to draw on
};

}  // namespace plumb
